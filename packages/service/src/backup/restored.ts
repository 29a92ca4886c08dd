/** What follows any restore of a database (specification 7.5). */
import type { Pool } from 'pg'
import { type Tx, transaction } from '../db/transaction.ts'
import { resumeDeliveries } from '../delivery/leases.ts'
import { beginEpoch, type NewEpoch } from '../journal/epoch.ts'
import { notServedOrganizations } from '../journal/not-served.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/**
 * Begins a new epoch in a migrated database whose stream may have gone back in time: earlier cursors expire, and so do watermarks in the
 * lost period. Call it once, before the service starts; further calls make every copy start again.
 */
export function markRestored(pool: Pool, clock: Clock): Promise<NewEpoch> {
  return transaction(pool, (tx) => beginEpochAfterRestore(tx, clock))
}

/** The same, in the caller's transaction. */
export async function beginEpochAfterRestore(tx: Tx, clock: Clock): Promise<NewEpoch> {
  const now = clock.now()
  const began = await beginEpoch(tx, now)
  await resumeDeliveries(tx, now)
  await endSessions(tx, now)
  return began
}

/** Links that were used and sessions that ended since the backup are unknown, so all are ended. */
async function endSessions(tx: Tx, now: number): Promise<void> {
  await tx.query(
    `update console_links set expires_at = $1
       where expires_at > $1 and organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(now)],
  )
}
