/**
 * Stored responses of the operator's requests with an Idempotency-Key (specification 3.8). They are with the
 * organization that the path names. That of an organization's creation is in the first database, where every process
 * finds it, as one of no organization.
 */
import { callFunction } from '../db/call-function.ts'
import { readDatabaseClock } from '../db/clock.ts'
import { unshared } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import type { Queryable } from '../db/pool.ts'
import { type Tx, transaction } from '../db/pool.ts'
import { createVault, type EncryptionKeys, readNamedKeys, sealResponse } from '../delivery/endpoint/vault.ts'
import {
  createIdempotencyStore,
  type IdempotencyStore,
  type KeyedResponse,
  storeLoneResponseFunction,
} from '../idempotency/stored-responses.ts'
import { type Installation, migrateDatabase } from '../installation.ts'
import { sealedOtherwiseCode } from '../journal/functions.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import { nilUuid } from '../kernel/ids.ts'
import { ok } from '../kernel/outcome.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { NewKey } from '../organization/create.ts'

/** Of the operator, as the owner of idempotency keys. */
export const operatorId = nilUuid

/** Another request with the same Idempotency-Key has committed. */
export class Repeated extends Error {}

/** Stores the response with what is created. Nothing without an Idempotency-Key. @throws Repeated */
export type Keep = (tx: Tx, planned: NewKey) => Promise<void>

export function responsesOfOperator(installation: Installation, keys: EncryptionKeys) {
  /** Null: no database has the organization. Looked up each time, as it may have moved. */
  async function open(organizationId: string) {
    const database =
      organizationId === nilUuid ? installation.databases[0] : await installation.databaseOf(organizationId)
    if (database === null) return null
    await migrateDatabase(database)
    return { pool: database.pool, clock: await readDatabaseClock(database.pool) }
  }

  async function storeOf(organizationId: string): Promise<IdempotencyStore | null> {
    const opened = await open(organizationId)
    if (opened === null) return null
    const { pool, clock } = opened
    const callUnderClock: CallUnderClock = (called, values) =>
      transaction(pool, (tx) => callInside(tx, called, values))
    return createIdempotencyStore(
      { database: unshared(pool), callUnderClock, maxBytes: null },
      clock,
      (sealed, owner, subjectId) =>
        vaultOf(pool).open(sealed, { organizationId: owner, webhookId: subjectId }),
    )
  }

  const store: IdempotencyStore = {
    find: async (organizationId, record) =>
      (await storeOf(organizationId))?.find(organizationId, record) ?? ok(null),
    full: async () => null,
    store: async (organizationId, record, response) =>
      (await storeOf(organizationId))?.store(organizationId, record, response) ?? 'done',
  }

  /** All that needs another connection comes before the transaction, which has one already. */
  async function keeping(organizationId: string, record: KeyedResponse | null): Promise<Keep> {
    const opened = record === null ? null : await open(organizationId)
    if (opened === null) return async () => {}
    const now = formatTimestamp(opened.clock.now())
    const isCreation = organizationId === nilUuid
    return async (tx, planned) => {
      const subjectId = isCreation ? planned.organizationId : planned.apiKeyId
      const owner = { organizationId, webhookId: subjectId }
      const response = await sealResponse(vaultOf(tx), owner, record, JSON.stringify(planned))
      const stored = isCreation
        ? await storeCreation(tx, [organizationId, subjectId, now, response])
        : await callInside<string>(tx, storeLoneResponseFunction, [organizationId, subjectId, now, response])
      if (stored === 'replayed') throw new Repeated('another request with this Idempotency-Key has committed')
    }
  }

  const vaultOf = (db: Queryable) => createVault(keys, async () => (await readNamedKeys(db)).current)

  return { store, keeping }
}

/** For the organization's clock row; commits hold it for less. */
const clockWithin = '30s'

async function callInside<A>(
  tx: Tx,
  called: SchemaFunction,
  values: readonly [organizationId: string, ...others: unknown[]],
): Promise<A> {
  await tx.query(`set local lock_timeout = '${clockWithin}'`)
  return callFunction<A>(tx, called, values)
}

/** Waits for another creation with the same Idempotency-Key. Its bytes count toward no organization. */
async function storeCreation(
  tx: Tx,
  values: readonly [organizationId: string, subjectId: string, now: string, response: string | null],
): Promise<'done' | 'replayed'> {
  const current = await tx.query(
    `select 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode($1::jsonb->>'sealed_with', 'hex')) for share`,
    [values[3]],
  )
  if (current.rowCount === 0)
    throw Object.assign(new Error('sealed with another encryption key than the database names'), {
      code: sealedOtherwiseCode,
    })
  const { rowCount } = await tx.query(
    `insert into idempotency_keys as k (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, sealed, created_at)
       select $1, r.api_key_id, r.method, r.path, r.key, decode(r.request_hash, 'hex'), r.status, $2, decode(r.sealed, 'hex'), $3
         from jsonb_to_record($4::jsonb) as r(api_key_id uuid, method text, path text, key text, request_hash text, status int, sealed text)
       on conflict (organization_id, api_key_id, method, path, key) do update
         set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
           sealed = excluded.sealed, created_at = excluded.created_at
         where k.created_at <= $3::timestamptz - interval '24 hours'`,
    [...values],
  )
  return rowCount === 1 ? 'done' : 'replayed'
}
