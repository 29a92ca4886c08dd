/** Leases of endpoint queues that end without their worker: counted, and released by its supervisor or by a restore. */
import type { Pool } from 'pg'
import { notServedOrganizations } from '../../db/not-served.ts'
import type { Tx } from '../../db/pool.ts'
import { fillTemplate, readSql } from '../../db/sql-file.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { deliveryTuning } from '../tuning.ts'

const { lostInARow, sentAlone } = deliveryTuning.leases

const releaseStatement = fillTemplate(readSql(import.meta.url, './release-ended-worker.sql'), {
  lost_in_a_row: String(lostInARow),
  sent_alone: String(sentAlone),
})

/**
 * Releases the queues of a worker that no longer runs; each counts as a lost lease. `now` in milliseconds. Returns how
 * many there were.
 */
export async function releaseQueues(pool: Pool, workerId: string, now: number): Promise<number> {
  const { rows } = await pool.query<{ organization_id: string; webhook_id: string }>(
    'select l.organization_id, l.webhook_id from endpoint_queues l where l.worker_id = $1 and l.lease_id is not null',
    [workerId],
  )
  for (const row of rows) {
    await pool.query(releaseStatement, [row.organization_id, row.webhook_id, workerId, formatTimestamp(now)])
  }
  return rows.length
}

/**
 * After a restore: releases every lease, so that pending deliveries go out (perhaps again, under the same event id),
 * and lets the time of failing endpoints start over at `now`, in milliseconds, so that one more failure does not
 * disable them. Part of the caller's transaction.
 */
export async function resumeDeliveries(tx: Pick<Tx, 'query'>, now: number): Promise<void> {
  await tx.query(
    `update endpoint_queues set lease_id = null, lease_until = null, worker_id = null,
         lost_leases = 0, alone_left = 0, alone_id = null, alone_since = null
       where lease_id is not null or worker_id is not null or lost_leases > 0 or alone_left > 0 or alone_id is not null`,
  )
  await tx.query(
    `update webhook_health set failing_since = $1 where failing_since is not null and failing_since < $1
       and organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(now)],
  )
}
