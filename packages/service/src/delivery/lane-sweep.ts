/** Looking after lanes, recoveries and large commits that do not say what is so: there should be none, unless a clock was set back. */
import type { Queryable } from '../db/pool.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { LaneKey, Lanes } from './lanes.ts'

/** A lane that is looked at within so many milliseconds is none to worry about: it may just have been let go. */
const soon = 10_000
/** A recovery neither waits nor is leased for longer at a time, in milliseconds: it looks at a disabled endpoint each minute. */
const recoveryWaits = 60_000
/** Lanes, and pending deliveries, that one statement looks at: nothing waits for long behind it, however many there are. */
const lanesAtOnce = 1_000
const deliveriesAtOnce = 2_000

interface LaneRow {
  readonly organization_id: string
  readonly webhook_id: string
}

/** A place among what is pending, in the order of an index: lane after lane, each by what is due. */
export interface Place extends LaneKey {
  /** As PostgreSQL reads it. */
  readonly dueAt: string
  readonly id: string
}

/** Behind all of a lane. */
const behind = 'infinity'
const noId = '00000000-0000-0000-0000-000000000000'
const firstPlace: Place = { organizationId: noId, webhookId: noId, dueAt: behind, id: noId }

/** One step down an index a lane: at 10,000 lanes and 1,000,000 pending deliveries some 50 ms by estimate, not measured. */
export async function sweepLanes(
  pool: Queryable,
  ...[now, longestLease]: Parameters<Lanes['sweep']>
): Promise<number> {
  const latest = now + longestLease
  let woken = 0
  for (let last: LaneRow = { organization_id: noId, webhook_id: noId }; ; ) {
    const { rows } = await pool.query<LaneRow & { stray: boolean }>({
      text: `select l.organization_id, l.webhook_id, l.lease_until > $2
               or l.lease_id is null and (l.due_at is null or l.due_at > $3)
                 and (select d.next_attempt_at from deliveries d where d.organization_id = l.organization_id
                   and d.webhook_id = l.webhook_id and d.log_day = 'infinity' order by d.next_attempt_at, d.id limit 1) <= $1
               as stray
             from lanes l where (l.organization_id, l.webhook_id) > ($4::uuid, $5::uuid)
             order by l.organization_id, l.webhook_id limit ${lanesAtOnce}`,
      values: [...[now, latest, now + soon].map(formatTimestamp), last.organization_id, last.webhook_id],
    })
    for (const row of rows.filter(({ stray }) => stray)) {
      await wake(pool, row, now, latest)
      woken++
    }
    const end = rows.at(-1)
    if (end === undefined || rows.length < lanesAtOnce) return woken
    last = end
  }
}

/** A lease that ends later than any can was given by a clock that was ahead: it has ended. */
async function wake(pool: Queryable, row: LaneRow, now: number, latest: number): Promise<void> {
  await pool.query(
    `update lanes set due_at = least(due_at, $3),
       lease_until = case when lease_until > $4 then $3 else lease_until end
     where organization_id = $1 and webhook_id = $2`,
    [row.organization_id, row.webhook_id, formatTimestamp(now), formatTimestamp(latest)],
  )
}

interface PendingRow {
  readonly id: string
  readonly due_at: string
  readonly begins: boolean
}

/**
 * The first attempt of a schedule is due when it is begun, by a commit, by hand or by a recovery, and so never later than now:
 * what says otherwise was begun by a clock that was ahead. Retries stay where the log shows them.
 *
 * One piece of a walk over all that is pending and not due, which may be a million: see `Lanes.wakeFromTheFuture`.
 */
export async function wakeFromTheFuture(
  pool: Queryable,
  now: number,
  place: Place | null,
): Promise<{ readonly woken: number; readonly next: Place | null }> {
  if (place === null) {
    await wakeRecoveries(pool, now)
    await wakeFanOuts(pool, now)
  }
  // What is being committed at this moment is no sign of anything.
  const since = formatTimestamp(now + soon)
  if (place === null || place.dueAt === behind)
    return { woken: 0, next: await nextLane(pool, place ?? firstPlace, since) }
  const { organizationId, webhookId } = place
  const { rows } = await pool.query<PendingRow>({
    name: 'find_pending_in_the_future',
    text: `select d.id, d.next_attempt_at::text as due_at, d.attempt_count = d.attempts_before as begins
           from deliveries d
           where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity'
             and (d.next_attempt_at, d.id) > (greatest($3::timestamptz, $5::timestamptz), $4::uuid)
           order by d.next_attempt_at, d.id limit ${deliveriesAtOnce}`,
    values: [organizationId, webhookId, place.dueAt, place.id, since],
  })
  const begun = rows.filter(({ begins }) => begins).map(({ id }) => id)
  if (begun.length > 0) await beginNow(pool, place, begun, now)
  const last = rows.length === deliveriesAtOnce ? rows.at(-1) : undefined
  const next = { organizationId, webhookId, dueAt: last?.due_at ?? behind, id: last?.id ?? noId }
  return { woken: begun.length, next }
}

/** The place before what is not due in the next lane that has any of it; behind the last one that was looked at; null at the end. */
async function nextLane(
  pool: Queryable,
  { organizationId, webhookId }: Place,
  since: string,
): Promise<Place | null> {
  const { rows } = await pool.query<LaneRow & { waits: boolean }>({
    name: 'find_lanes_in_the_future',
    text: `select l.organization_id, l.webhook_id, (select d.next_attempt_at from deliveries d
               where d.organization_id = l.organization_id and d.webhook_id = l.webhook_id and d.log_day = 'infinity'
                 and d.next_attempt_at > $3 order by d.next_attempt_at, d.id limit 1) is not null as waits
             from lanes l where (l.organization_id, l.webhook_id) > ($1::uuid, $2::uuid)
             order by l.organization_id, l.webhook_id limit ${lanesAtOnce}`,
    values: [organizationId, webhookId, since],
  })
  const found = rows.find(({ waits }) => waits) ?? (rows.length === lanesAtOnce ? rows.at(-1) : undefined)
  if (found === undefined) return null
  return {
    organizationId: found.organization_id,
    webhookId: found.webhook_id,
    dueAt: found.waits ? since : behind,
    id: noId,
  }
}

async function beginNow(pool: Queryable, lane: LaneKey, ids: readonly string[], now: number): Promise<void> {
  const values = [lane.organizationId, lane.webhookId, formatTimestamp(now)]
  await pool.query(
    `update deliveries set next_attempt_at = $3 where organization_id = $1 and webhook_id = $2 and id = any($4)
       and log_day = 'infinity' and next_attempt_at > $3 and attempt_count = attempts_before`,
    [...values, ids],
  )
  await pool.query(
    'update lanes set due_at = least(due_at, $3) where organization_id = $1 and webhook_id = $2',
    values,
  )
}

/** A recovery that waits or is leased for longer than any does has waited long enough, and is nobody's. */
async function wakeRecoveries(pool: Queryable, now: number): Promise<void> {
  const latest = formatTimestamp(now + recoveryWaits + soon)
  const { rows } = await pool.query<LaneRow>({
    text: `select distinct r.organization_id, r.webhook_id from recoveries r
           where r.finished_at is null and (r.due_at > $1 or r.lease_until > $1)`,
    values: [latest],
  })
  for (const row of rows) {
    await pool.query(
      `update recoveries set due_at = least(due_at, $3),
         lease_until = case when lease_until > $4 then $3 else lease_until end
       where organization_id = $1 and webhook_id = $2 and finished_at is null`,
      [row.organization_id, row.webhook_id, formatTimestamp(now), latest],
    )
  }
}

/** A large commit's next piece waits for no longer than a moment. */
async function wakeFanOuts(pool: Queryable, now: number): Promise<void> {
  const { rows } = await pool.query<{ organization_id: string }>(
    'select distinct f.organization_id from fan_outs f where f.due_at > $1',
    [formatTimestamp(now + soon)],
  )
  for (const { organization_id: organizationId } of rows) {
    await pool.query('update fan_outs set due_at = $2 where organization_id = $1 and due_at > $2', [
      organizationId,
      formatTimestamp(now),
    ])
  }
}
