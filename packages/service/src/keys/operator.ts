/** Lists and revokes keys for the operator, directly in the database and without a key. */
import type { Pool } from 'pg'
import { callFunction } from '../db/call-function.ts'
import { transaction } from '../db/pool.ts'
import { retryOnConflict } from '../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { type KeyRecord, type KeyRow, keyRecord } from './api-key.ts'
import { keyLimit } from './keys.ts'
import { findKey, findKeys, revokeFunction } from './store.ts'

/** How long to wait for the organization's clock row; commits hold it for less. */
const clockWithin = '30s'

/** As the API shows them, newest first; null: no such organization. */
export async function listKeys(
  pool: Pick<Pool, 'query'>,
  clock: Clock,
  organizationId: string,
): Promise<readonly KeyRecord[] | null> {
  const { rows: known } = await pool.query('select 1 from organizations o where o.organization_id = $1', [
    organizationId,
  ])
  if (known.length === 0) return null
  const everything = { createdAfter: null, createdBefore: null }
  const rows = await findKeys(pool, organizationId, everything, { limit: keyLimit, offset: 0 }, clock.now())
  return rows.map((row) => keyRecord(organizationId, row))
}

/** Null: no such key. May revoke the last key that manages keys, as the operator can create another. */
export async function revokeKey(
  pool: Pool,
  clock: Clock,
  organizationId: string,
  id: string,
): Promise<KeyRecord | null> {
  const revoked = await retryOnConflict(async () =>
    transaction(pool, async (tx): Promise<KeyRow | 'unknown' | null> => {
      const row = await findKey(tx, organizationId, id, clock.now())
      if (row === null) return 'unknown'
      await tx.query(`set local lock_timeout = '${clockWithin}'`)
      const about = [organizationId, id, formatTimestamp(clock.now()), row.updated_at, null, null] as const
      return (await callFunction<string>(tx, revokeFunction, about)) === 'done' ? row : null
    }),
  )
  if (revoked === null) throw new Error(`the key ${id} keeps changing`)
  return revoked === 'unknown' ? null : keyRecord(organizationId, revoked)
}
