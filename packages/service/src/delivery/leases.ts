/**
 * Leases of endpoint queues that ended without their worker: counted, given back at once by whoever knows of its death, and taken
 * from all workers by a restore.
 */
import type { Pool } from 'pg'
import type { Tx } from '../db/transaction.ts'
import { notServedOrganizations } from '../journal/not-served.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { deliveryTuning } from './tuning.ts'

const { lostInARow, sentAlone } = deliveryTuning.leases

/**
 * SQL that sets what a queue's row, called `l`, keeps of lost leases when another is lost, if `lost` is so: the third in a row has
 * its deliveries sent one at a time.
 */
export const countLoss = (
  lost: string,
) => `lost_leases = case when ${lost} then least(l.lost_leases + 1, ${lostInARow}) else l.lost_leases end,
          alone_left = case when ${lost} and l.lost_leases >= ${lostInARow - 1} then ${sentAlone} else l.alone_left end`

/**
 * Gives back the queues of the worker `workerId`, which certainly runs no more; each counts as a lost lease. `now` in milliseconds
 * since the Unix epoch. Answers how many there were.
 */
export async function giveBackQueues(pool: Pool, workerId: string, now: number): Promise<number> {
  const { rows } = await pool.query<{ organization_id: string; webhook_id: string }>(
    'select l.organization_id, l.webhook_id from lanes l where l.worker_id = $1 and l.lease_id is not null',
    [workerId],
  )
  for (const row of rows) {
    await pool.query(
      `update lanes l set lease_id = null, lease_until = null, worker_id = null, listening = false, due_at = $4,
         ${countLoss('true')}
       where l.organization_id = $1 and l.webhook_id = $2 and l.worker_id = $3`,
      [row.organization_id, row.webhook_id, workerId, formatTimestamp(now)],
    )
  }
  return rows.length
}

/**
 * What was pending in the backup is pending again and goes out as soon as it is due: a
 * receiver may have got it before, under the same event id. The workers that had leases are gone.
 *
 * Gives back every lease, and lets the time of endpoints that are failing start over at `now`, in milliseconds: nobody
 * has tried them since the backup, so that one failure more must not disable them. Part of the caller's transaction.
 */
export async function resumeDeliveries(tx: Pick<Tx, 'query'>, now: number): Promise<void> {
  await tx.query(
    `update lanes set lease_id = null, lease_until = null, worker_id = null, listening = false,
         lost_leases = 0, alone_left = 0, alone_id = null, alone_since = null
       where lease_id is not null or worker_id is not null or lost_leases > 0 or alone_left > 0 or alone_id is not null`,
  )
  await tx.query('update recoveries set lease_id = null, lease_until = null where lease_id is not null')
  await tx.query(
    `update webhook_health set failing_since = $1 where failing_since is not null and failing_since < $1
       and organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(now)],
  )
}
