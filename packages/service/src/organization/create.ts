/** Organizations and their keys. A new organization starts its clock, from which every stamp is later. */
import type { Pool } from 'pg'
import { hashToken, newToken } from '../auth/token.ts'
import { type Tx, transaction } from '../db/transaction.ts'
import { newId } from '../kernel/ids.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

export interface NewKey {
  readonly organizationId: string
  readonly apiKeyId: string
  /** Shown once: only its hash is stored. */
  readonly token: string
}

/** Is told of what is made before anything of it is committed: when it fails, nothing was made. */
type Told = (made: NewKey) => Promise<void>
const nobody: Told = async () => {}

/** A new organization with its first key, which may do everything. */
export function createOrganization(
  pool: Pool,
  clock: Clock,
  name: string,
  tell: Told = nobody,
): Promise<NewKey> {
  return transaction(pool, async (tx) => {
    const made = await insertOrganization(tx, clock, name, newToken())
    await tell(made)
    return made
  })
}

/** PostgreSQL's number for "the first organization". */
const bootstrapLock = 6_737_201_103

/**
 * The first organization and its key, when the installation has no key at all; otherwise null. `token` is the
 * key to use, or null to make one. Any number of processes may ask at once: one of them is told. `handOver` gets the key
 * before anything of it is committed: when that fails, nothing was made.
 */
export function bootstrapOrganization(
  pool: Pool,
  clock: Clock,
  token: string | null,
  handOver: Told = nobody,
): Promise<NewKey | null> {
  return transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${bootstrapLock})`)
    // Of other databases the directory knows.
    const { rows } = await tx.query(
      'select 1 from (select 1 from api_keys union all select 1 from directory_organizations) k limit 1',
    )
    if (rows.length > 0) return null
    const first = await insertOrganization(tx, clock, 'My organization', token ?? newToken())
    await handOver(first)
    return first
  })
}

/** A new key of an organization, or null when there is no such organization. */
export function createApiKey(
  pool: Pool,
  clock: Clock,
  key: { readonly organizationId: string; readonly name: string; readonly scopes: readonly string[] },
  tell: Told = nobody,
): Promise<NewKey | null> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query('select 1 from organizations o where o.organization_id = $1', [
      key.organizationId,
    ])
    if (rows.length === 0) return null
    const made = await insertKey(tx, clock, key, newToken())
    await tell(made)
    return made
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
