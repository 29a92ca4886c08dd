/** What a worker held that has died, given back at once by whoever knows of its death: its leases need not run out. */
import type { Pool } from 'pg'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { countLoss } from './call-fragments.ts'

/**
 * Gives back the lanes of the worker `workerId`, which certainly runs no more; each counts as a lost lease. `now` in milliseconds
 * since the Unix epoch. Answers how many there were.
 */
export async function giveBackLanes(pool: Pool, workerId: string, now: number): Promise<number> {
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
