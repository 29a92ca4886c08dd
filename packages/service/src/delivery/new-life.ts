/**
 * What a restore means for deliveries. What was pending in the backup is pending again and goes out as soon as it is due: a
 * receiver may have got it before, under the same event id. The workers that had leases are gone.
 */
import type { Tx } from '../db/transaction.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'

/**
 * Gives back every lease, and lets the time of endpoints that are failing begin anew at `now`, in milliseconds: nobody
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
    'update webhook_health set failing_since = $1 where failing_since is not null and failing_since < $1',
    [formatTimestamp(now)],
  )
}
