/**
 * What becomes of an endpoint's deliveries, counted (specification 11.5): how many succeeded, how many failed and why, and how
 * long attempts took. Every settling counts what it writes into the endpoint's record of its health, whose row it writes anyway,
 * so that counting costs no row. When a minute is over, that row's counts become a row of `delivery_stats`, and when an hour is
 * over, its minutes another: a chart of a month reads hours (decision 16).
 *
 * A **tally** is an array with a count at each place. Places are stored, so they keep their meaning: new ones come at the end.
 */
import { stepOf } from '../journal/change-counts.ts'
import type { AttemptResult, DeliveryErrorCode } from './model.ts'

/** Upper bounds of how long attempts took, in milliseconds, each exclusive; what took longer is in a last one. */
export const durationBounds: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000,
  7_000, 10_000, 15_000, 20_000, 30_000,
]

const succeededPlace = 0
const firstDurationPlace = 1
/** Where failures stand: behind the durations, and each new code behind the last. */
const failurePlaces = {
  timeout: 29,
  connection_failed: 30,
  tls_error: 31,
  redirect: 32,
  non_2xx: 33,
  address_not_public: 34,
  resolver_failed: 35,
  endpoint_disabled: 36,
  subject_unavailable: 37,
  worker_lost: 38,
} as const satisfies Record<DeliveryErrorCode, number>
const places = 39

/** What a place counts; null for one that a later release has. */
export function meaningOf(
  place: number,
):
  | { readonly counts: 'succeeded' }
  | { readonly counts: 'failed'; readonly code: string }
  | { readonly counts: 'duration'; readonly bucket: number }
  | null {
  if (place === succeededPlace) return { counts: 'succeeded' }
  if (place <= durationBounds.length + firstDurationPlace)
    return { counts: 'duration', bucket: place - firstDurationPlace }
  const [code] = Object.entries(failurePlaces).find(([, at]) => at === place) ?? []
  return code === undefined ? null : { counts: 'failed', code }
}

/** The tally of a round's results. */
export function tallyOf(results: readonly AttemptResult[]): readonly number[] {
  const tally = new Array<number>(places).fill(0)
  const count = (place: number) => {
    tally[place] = (tally[place] as number) + 1
  }
  for (const { verdict, durationMs } of results) {
    const code = verdict.error?.code ?? null
    count(code === null ? succeededPlace : failurePlaces[code])
    // Of an attempt that its worker did not outlive nobody knows how long it took.
    if (verdict.attempted && code !== 'worker_lost') count(firstDurationPlace + bucketOf(durationMs))
  }
  return tally
}

function bucketOf(milliseconds: number): number {
  const bucket = durationBounds.findIndex((bound) => milliseconds < bound)
  return bucket === -1 ? durationBounds.length : bucket
}

/**
 * How long the given part of the attempts took at most, in milliseconds: within the bucket that it falls into as if attempts were spread
 * evenly up to `longest`, where an attempt ends, so at most two thirds too much or too little. `counts`: one a bucket. Null where there were none.
 */
export function quantile(counts: readonly number[], part: number, longest: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(all * part)
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = durationBounds[bucket - 1] ?? 0
      // The last has no end: attempts in it took that long at least. So did those of a bucket beyond the timeout, which was longer once.
      const to = Math.max(from, Math.min(durationBounds[bucket] ?? from, longest))
      return Math.round(from + ((to - from) * left) / count)
    }
    left -= count
  }
  return null
}

/** Another worker's clock may be ahead: what comes up to so long before the minute that is counted is counted in it. */
const clocksApart = `interval '1 hour'`

const ofEndpoint = (row: string) =>
  `${row}.organization_id = p_organization_id and ${row}.webhook_id = p_webhook_id`

/** What a function declares that counts: no UPDATE adds to a time, which leaves the statements to what splits tables over servers (decision 65). */
export const tallyVariables = `v_minute timestamptz := ${stepOf(`interval '1 minute'`, 'p_now')};
  v_minute_until timestamptz := v_minute + ${clocksApart};`

/** SQL that counts p_tally at p_now, and changes the record of health by `changes`, in one statement unless a minute begins. `tell`: what follows the update. */
export function countTally(tally: string, changes: readonly string[] = [], tell = ''): string {
  const hour = (time: string) => stepOf(`interval '1 hour'`, time)
  const update = (counted: readonly string[], where = '') => `update webhook_health h
        set ${[...changes, ...counted].join(',\n            ')}
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id${where}${tell}`
  // One by one: to add them as rows of two arrays took the database 40 µs a round, as much as half a delivery.
  const sums = Array.from(
    { length: places },
    (_, n) => `coalesce(h.tally[${n + 1}], 0) + coalesce(${tally}[${n + 1}], 0)`,
  )
  const added = `tally = array[${sums.join(', ')}]`
  return `${update([added], `\n        and h.tally_at >= v_minute and h.tally_at < v_minute_until`)};
    if not found then
      -- A minute is over, or the clock was set back: counted again, a minute has what was counted before as well.
      insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
        select h.organization_id, h.webhook_id, 1, h.tally_at, t.places, t.counts
          from webhook_health h
            cross join lateral (select array_agg((c.place - 1)::smallint) as places, array_agg(c.count) as counts
              from unnest(h.tally) with ordinality as c(count, place) where c.count > 0) t
          where ${ofEndpoint('h')} and t.places is not null
        on conflict (organization_id, webhook_id, minutes, at)
          do update set places = s.places || excluded.places, counts = s.counts || excluded.counts;
      insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
        select t.organization_id, t.webhook_id, 60, t.at, array_agg(t.place), array_agg(t.count)
          from (select h.organization_id, h.webhook_id, ${hour('h.tally_at')} as at, c.place, sum(c.count)::int as count
            from webhook_health h
              join delivery_stats m on ${ofEndpoint('m')} and m.minutes = 1
                and m.at >= ${hour('h.tally_at')} and m.at < ${hour('h.tally_at')} + interval '1 hour'
              cross join lateral unnest(m.places, m.counts) as c(place, count)
            where ${ofEndpoint('h')} and ${hour('h.tally_at')} <> ${hour('p_now')}
            group by h.organization_id, h.webhook_id, h.tally_at, c.place) t
          group by t.organization_id, t.webhook_id, t.at
        on conflict (organization_id, webhook_id, minutes, at)
          do update set places = excluded.places, counts = excluded.counts;
      ${update([`tally_at = v_minute`, `tally = ${tally}`])};
    end if;`
}

/** SQL of the tally of so many deliveries that failed because their endpoint is disabled. */
export const tallyOfDisabled = (count: string) =>
  `(array_fill(0, array[${failurePlaces.endpoint_disabled}]) || ${count})`

/**
 * SQL of the rows that count these endpoints' deliveries, `at`, `places` and `counts`, from and up to these times: of whole hours one
 * row where `whole` says that those will do. `endpoints` is the rest of a `from` that has their records of health as `h`.
 */
export function countedRows(endpoints: string, from: string, to: string, whole: string): string {
  // An hour that is not over for its endpoint stands in its minutes, and the minute that is counted now with its health.
  const hour = stepOf(`interval '1 hour'`, 'h.tally_at')
  const rows = (
    minutes: number,
    first: string,
    last: string,
  ) => `select s.at, s.places, s.counts from ${endpoints}
      cross join lateral (select s.at, s.places, s.counts from delivery_stats s
        where s.organization_id = h.organization_id and s.webhook_id = h.webhook_id and s.minutes = ${minutes}
          and s.at >= ${first} and s.at < ${last} offset 0) s`
  return `${rows(60, from, `case when ${whole} then least(${to}, ${hour}) else ${from} end`)}
    union all
    ${rows(1, `case when ${whole} then greatest(${from}, ${hour}) else ${from} end`, to)}
    union all
    select h.tally_at, array(select (n - 1)::smallint from generate_subscripts(h.tally, 1) n), h.tally from ${endpoints}
      where h.tally_at >= ${from} and h.tally_at < ${to}`
}
