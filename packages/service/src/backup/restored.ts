/** What a database has to be told after it was restored, whoever restored it (specification 7.5). */
import type { Pool } from 'pg'
import { type Tx, transaction } from '../db/transaction.ts'
import { resumeDeliveries } from '../delivery/leases.ts'
import { beginEpoch, type NewEpoch } from '../journal/epoch.ts'
import { notServedOrganizations } from '../journal/not-served.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/**
 * Tells a migrated database that its stream may have gone back in time: cursors from before end, and so do watermarks from
 * the span that was lost. To be called once, before the service starts on it. Calling it again is harmless, but makes
 * every copy start again.
 */
export function tellRestored(pool: Pool, clock: Clock): Promise<NewEpoch> {
  return transaction(pool, (tx) => beginEpochAfterRestore(tx, clock))
}

/** The same, as part of the caller's transaction. */
export async function beginEpochAfterRestore(tx: Tx, clock: Clock): Promise<NewEpoch> {
  const now = clock.now()
  const began = await beginEpoch(tx, now)
  await resumeDeliveries(tx, now)
  await endSessions(tx, now)
  return began
}

/** Nobody can say any more which links were used and which sessions were ended since: none of them is live. */
async function endSessions(tx: Tx, now: number): Promise<void> {
  await tx.query(
    `update console_links set expires_at = $1
       where expires_at > $1 and organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(now)],
  )
}
