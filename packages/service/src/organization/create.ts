/** Creates organizations and keys. A new organization starts its clock; every stamp is later. */
import type { Pool } from 'pg'
import { hashToken, newToken } from '../auth/token.ts'
import { type Tx, transaction } from '../db/transaction.ts'
import { newId } from '../kernel/ids.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

export interface NewKey {
  readonly organizationId: string
  readonly apiKeyId: string
  /** Shown once: the database stores only its hash. */
  readonly token: string
}

/** Called before the commit; when it rejects, nothing is created. */
type Announce = (created: NewKey) => Promise<void>
const noAnnouncement: Announce = async () => {}

/** With its first key, which has all scopes. */
export function createOrganization(
  pool: Pool,
  clock: Clock,
  name: string,
  announce: Announce = noAnnouncement,
): Promise<NewKey> {
  return transaction(pool, async (tx) => {
    const created = await insertOrganization(tx, clock, name, newToken())
    await announce(created)
    return created
  })
}

/** Of the advisory lock for the first organization. */
const bootstrapLock = 6_737_201_103

/** Null when the installation has a key. `token`: the key to use; null: a new one. Only one process creates it. */
export function bootstrapOrganization(
  pool: Pool,
  clock: Clock,
  token: string | null,
  announce: Announce = noAnnouncement,
): Promise<NewKey | null> {
  return transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${bootstrapLock})`)
    // The directory knows the keys in other databases.
    const { rows } = await tx.query(
      'select 1 from (select 1 from api_keys union all select 1 from directory_organizations) k limit 1',
    )
    if (rows.length > 0) return null
    const first = await insertOrganization(tx, clock, 'My organization', token ?? newToken())
    await announce(first)
    return first
  })
}

export function createApiKey(
  pool: Pool,
  clock: Clock,
  key: { readonly organizationId: string; readonly name: string; readonly scopes: readonly string[] },
  announce: Announce = noAnnouncement,
): Promise<NewKey | null> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query('select 1 from organizations o where o.organization_id = $1', [
      key.organizationId,
    ])
    if (rows.length === 0) return null
    const created = await insertKey(tx, clock, key, newToken())
    await announce(created)
    return created
  })
}

async function insertOrganization(tx: Tx, clock: Clock, name: string, token: string): Promise<NewKey> {
  const organizationId = newId(clock)
  const now = formatTimestamp(clock.now())
  await tx.query(
    'insert into organizations (organization_id, name, created_at, updated_at) values ($1, $2, $3, $3)',
    [organizationId, name, now],
  )
  await tx.query(
    `insert into organization_clocks (organization_id, last_stamp, epoch)
       select $1, $2, i.epoch from installation i where i.singleton`,
    [organizationId, now],
  )
  return insertKey(tx, clock, { organizationId, name: 'First key', scopes: ['*'] }, token)
}

async function insertKey(
  tx: Tx,
  clock: Clock,
  key: { readonly organizationId: string; readonly name: string; readonly scopes: readonly string[] },
  token: string,
): Promise<NewKey> {
  const apiKeyId = newId(clock)
  const now = formatTimestamp(clock.now())
  await tx.query(
    'insert into api_keys (organization_id, id, name, scopes, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)',
    [key.organizationId, apiKeyId, key.name, key.scopes, now],
  )
  await tx.query(
    'insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at) values ($1, $2, $3, $4, $5)',
    [Buffer.from(hashToken(token), 'hex'), key.organizationId, apiKeyId, token.slice(-4), now],
  )
  return { organizationId: key.organizationId, apiKeyId, token }
}
