/**
 * Counts an endpoint's deliveries (specification 11.5): successes, failures by code, and how long attempts took. Counts are added to the
 * endpoint's health row, which completing writes anyway. When a minute is over they become a row of `delivery_stats`, and when an hour is
 * over, its minutes become another (decision 16).
 *
 * A **tally** is an array with a count at each index. Indexes are stored, so they keep their meaning: add new ones at the end.
 */
import { stepOf } from '../journal/change-counts.ts'
import type { AttemptResult, DeliveryErrorCode } from './model.ts'

/** Upper bounds of an attempt's duration in milliseconds, exclusive; the last bucket has what took longer. */
export const durationBounds: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000,
  7_000, 10_000, 15_000, 20_000, 30_000,
]

const succeededIndex = 0
const firstDurationIndex = 1
/** Failures come after the durations; add new codes at the end. */
const failureIndexes = {
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
const indexCount = 39

export function meaningOf(
  index: number,
):
  | { readonly counts: 'succeeded' }
  | { readonly counts: 'failed'; readonly code: string }
  | { readonly counts: 'duration'; readonly bucket: number }
  | null {
  if (index === succeededIndex) return { counts: 'succeeded' }
  if (index <= durationBounds.length + firstDurationIndex)
    return { counts: 'duration', bucket: index - firstDurationIndex }
  const [code] = Object.entries(failureIndexes).find(([, at]) => at === index) ?? []
  return code === undefined ? null : { counts: 'failed', code }
}

export function tallyOf(results: readonly AttemptResult[]): readonly number[] {
  const tally = new Array<number>(indexCount).fill(0)
  const count = (index: number) => {
    tally[index] = (tally[index] as number) + 1
  }
  for (const { verdict, durationMs } of results) {
    const code = verdict.error?.code ?? null
    count(code === null ? succeededIndex : failureIndexes[code])
    // How long an attempt took is unknown if its worker died.
    if (verdict.attempted && code !== 'worker_lost') count(firstDurationIndex + bucketOf(durationMs))
  }
  return tally
}

function bucketOf(milliseconds: number): number {
  const bucket = durationBounds.findIndex((bound) => milliseconds < bound)
  return bucket === -1 ? durationBounds.length : bucket
}

/**
 * The duration in milliseconds that the given part of the attempts did not exceed; null without attempts. Interpolated within its bucket up
 * to `longest`, the timeout. `counts`: one for each bucket.
 */
export function quantile(counts: readonly number[], part: number, longest: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(all * part)
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = durationBounds[bucket - 1] ?? 0
      // The last bucket has no upper bound; a bucket beyond the timeout is from a time when the timeout was longer.
      const to = Math.max(from, Math.min(durationBounds[bucket] ?? from, longest))
      return Math.round(from + ((to - from) * left) / count)
    }
    left -= count
  }
  return null
}

/** How far ahead another worker's clock may be and still count in this minute. */
const clocksApart = `interval '1 hour'`

const ofEndpoint = (row: string) =>
  `${row}.organization_id = p_organization_id and ${row}.webhook_id = p_webhook_id`

/** Variables of a function that counts. They are computed once, as statements that add to a time cannot be sharded (decision 65). */
export const tallyVariables = `v_minute timestamptz := ${stepOf(`interval '1 minute'`, 'p_now')};
  v_minute_until timestamptz := v_minute + ${clocksApart};`

/** SQL that adds p_tally at p_now and applies `changes` to the endpoint's health. `tell`: what follows the update. */
export function countTally(tally: string, changes: readonly string[] = [], tell = ''): string {
  const hour = (time: string) => stepOf(`interval '1 hour'`, time)
  const update = (counted: readonly string[], where = '') => `update webhook_health h
        set ${[...changes, ...counted].join(',\n            ')}
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id${where}${tell}`
  // Element by element: summing two unnested arrays took 40 µs, as much as half a delivery.
  const sums = Array.from(
    { length: indexCount },
    (_, n) => `coalesce(h.tally[${n + 1}], 0) + coalesce(${tally}[${n + 1}], 0)`,
  )
  const added = `tally = array[${sums.join(', ')}]`
  return `${update([added], `\n        and h.tally_at >= v_minute and h.tally_at < v_minute_until`)};
    if not found then
      -- A minute is over, or the clock was set back: counted again, a minute has what was counted before as well.
      insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
        select h.organization_id, h.webhook_id, 1, h.tally_at, t.places, t.counts
          from webhook_health h
            cross join lateral (select array_agg((c.index - 1)::smallint) as places, array_agg(c.count) as counts
              from unnest(h.tally) with ordinality as c(count, index) where c.count > 0) t
          where ${ofEndpoint('h')} and t.places is not null
        on conflict (organization_id, webhook_id, minutes, at)
          do update set places = s.places || excluded.places, counts = s.counts || excluded.counts;
      insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
        select t.organization_id, t.webhook_id, 60, t.at, array_agg(t.index), array_agg(t.count)
          from (select h.organization_id, h.webhook_id, ${hour('h.tally_at')} as at, c.index, sum(c.count)::int as count
            from webhook_health h
              join delivery_stats m on ${ofEndpoint('m')} and m.minutes = 1
                and m.at >= ${hour('h.tally_at')} and m.at < ${hour('h.tally_at')} + interval '1 hour'
              cross join lateral unnest(m.places, m.counts) as c(index, count)
            where ${ofEndpoint('h')} and ${hour('h.tally_at')} <> ${hour('p_now')}
            group by h.organization_id, h.webhook_id, h.tally_at, c.index) t
          group by t.organization_id, t.webhook_id, t.at
        on conflict (organization_id, webhook_id, minutes, at)
          do update set places = excluded.places, counts = excluded.counts;
      ${update([`tally_at = v_minute`, `tally = ${tally}`])};
    end if;`
}

export const tallyOfDisabled = (count: string) =>
  `(array_fill(0, array[${failureIndexes.endpoint_disabled}]) || ${count})`

/** SQL: these endpoints' `at`, `places` and `counts` between two times; one row an hour where `whole`. `endpoints`: a `from` with `h`. */
export function countedRows(endpoints: string, from: string, to: string, whole: string): string {
  // An hour that is not over is in its minutes, and the current minute in the endpoint's health.
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
