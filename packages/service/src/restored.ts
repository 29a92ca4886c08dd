/** What a database has to be told after it was restored, whoever restored it (specification 7.5). */
import type { Pool } from 'pg'
import { type Tx, transaction } from './db/transaction.ts'
import { resumeDeliveries } from './delivery/leases.ts'
import { beginNewLife, type NewLife } from './journal/new-life.ts'
import type { Clock } from './kernel/clock.ts'

/**
 * Tells a migrated database that its stream may have gone back in time: cursors from before end, and so do watermarks from
 * the span that was lost. To be called once, before the service starts on it. Calling it again is harmless, but makes
 * every copy start again.
 */
export function tellRestored(pool: Pool, clock: Clock): Promise<NewLife> {
  return transaction(pool, (tx) => beginLifeAfterRestore(tx, clock))
}

/** The same, as part of the caller's transaction. */
export async function beginLifeAfterRestore(tx: Tx, clock: Clock): Promise<NewLife> {
  const now = clock.now()
  const life = await beginNewLife(tx, now)
  await resumeDeliveries(tx, now)
  return life
}
