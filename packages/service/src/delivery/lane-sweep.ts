/** Looking after lanes, recoveries and large commits that do not say what is so: there should be none, unless a clock was set back. */
import type { Pool } from 'pg'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Lanes } from './lanes.ts'

/** A lane that is looked at within so many milliseconds is none to worry about: it may just have been let go. */
const soon = 10_000
/** A recovery neither waits nor is leased for longer at a time, in milliseconds: it looks at a disabled endpoint each minute. */
const recoveryWaits = 60_000

interface StrayRow {
  readonly organization_id: string
  readonly webhook_id: string
}

/** One step down an index a lane: at 10,000 lanes and 1,000,000 pending deliveries some 50 ms by estimate, not measured. */
export async function sweepLanes(
  pool: Pool,
  ...[now, longestLease]: Parameters<Lanes['sweep']>
): Promise<number> {
  const { rows } = await pool.query<StrayRow>({
    text: `select l.organization_id, l.webhook_id from lanes l
           where l.lease_until > $2
             or l.lease_id is null and (l.due_at is null or l.due_at > $3)
               and (select d.next_attempt_at from deliveries d where d.organization_id = l.organization_id
                 and d.webhook_id = l.webhook_id and d.log_day = 'infinity' order by d.next_attempt_at, d.id limit 1) <= $1`,
    values: [formatTimestamp(now), formatTimestamp(now + longestLease), formatTimestamp(now + soon)],
  })
  for (const row of rows) await wake(pool, row, now, now + longestLease)
  return rows.length
}

/** A lease that ends later than any can was given by a clock that was ahead: it has ended. */
async function wake(pool: Pool, row: StrayRow, now: number, latest: number): Promise<void> {
  await pool.query(
    `update lanes set due_at = least(due_at, $3),
       lease_until = case when lease_until > $4 then $3 else lease_until end
     where organization_id = $1 and webhook_id = $2`,
    [row.organization_id, row.webhook_id, formatTimestamp(now), formatTimestamp(latest)],
  )
}

/**
 * A first attempt is due when its change is committed, and so never later than now: what says otherwise was committed
 * by a clock that was ahead. So it is with the first attempt of a schedule that was begun anew by hand or by a recovery,
 * which has all of its `attempts` left. Other retries stay where the log shows them.
 */
export async function wakeFromTheFuture(pool: Pool, now: number, attempts: number): Promise<number> {
  await wakeRecoveries(pool, now)
  await wakeFanOuts(pool, now)
  const { rows } = await pool.query<StrayRow>({
    text: `select distinct d.organization_id, d.webhook_id from deliveries d
           where d.log_day = 'infinity' and d.next_attempt_at > $1
             and (d.attempt_count = 0 or d.max_attempts - d.attempt_count = $2)`,
    // What is being committed at this moment is no sign of anything.
    values: [formatTimestamp(now + soon), attempts],
  })
  for (const row of rows) {
    const values = [row.organization_id, row.webhook_id, formatTimestamp(now)]
    await pool.query(
      `update deliveries set next_attempt_at = $3 where organization_id = $1 and webhook_id = $2
         and log_day = 'infinity' and next_attempt_at > $3 and (attempt_count = 0 or max_attempts - attempt_count = $4)`,
      [...values, attempts],
    )
    await pool.query(
      'update lanes set due_at = least(due_at, $3) where organization_id = $1 and webhook_id = $2',
      values,
    )
  }
  return rows.length
}

/** A recovery that waits or is leased for longer than any does has waited long enough, and is nobody's. */
async function wakeRecoveries(pool: Pool, now: number): Promise<void> {
  const latest = formatTimestamp(now + recoveryWaits + soon)
  const { rows } = await pool.query<StrayRow>({
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
async function wakeFanOuts(pool: Pool, now: number): Promise<void> {
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
