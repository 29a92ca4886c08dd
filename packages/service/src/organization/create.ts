/** Creates organizations and keys. A new organization starts its clock; every stamp is later. */
import type { Pool } from 'pg'
import { hashToken, newToken } from '../auth/token.ts'
import { type Tx, transaction } from '../db/pool.ts'
import { newId } from '../kernel/ids.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

export interface NewKey {
  readonly organizationId: string
  readonly apiKeyId: string
  /** Shown once: the database stores only its hash. */
  readonly token: string
}

/** Called in the transaction before anything is created; when it rejects, nothing is. */
type Announce = (planned: NewKey, tx: Tx) => Promise<void>
const noAnnouncement: Announce = async () => {}

function planKey(clock: Clock, organizationId = newId(clock)): NewKey {
  return { organizationId, apiKeyId: newId(clock), token: newToken() }
}

/** With its first key, which has all scopes. Changes nothing where the organization of `planned` exists. */
export function createOrganization(
  pool: Pool,
  clock: Clock,
  name: string,
  announce: Announce = noAnnouncement,
  planned: NewKey = planKey(clock),
): Promise<NewKey> {
  return transaction(pool, async (tx) => {
    await announce(planned, tx)
    await insertOrganization(tx, clock, name, planned)
    return planned
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
    const planned = planKey(clock)
    const first = token === null ? planned : { ...planned, token }
    await announce(first, tx)
    await insertOrganization(tx, clock, 'My organization', first)
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
    const planned = planKey(clock, key.organizationId)
    await announce(planned, tx)
    await insertKey(tx, clock, key, planned)
    return planned
  })
}

async function insertOrganization(tx: Tx, clock: Clock, name: string, first: NewKey): Promise<void> {
  const { organizationId } = first
  const now = formatTimestamp(clock.now())
  const { rowCount } = await tx.query(
    `insert into organizations (organization_id, name, created_at, updated_at) values ($1, $2, $3, $3)
       on conflict (organization_id) do nothing`,
    [organizationId, name, now],
  )
  if (rowCount === 0) return
  await tx.query(
    `insert into organization_clocks (organization_id, last_stamp, epoch)
       select $1, $2, i.epoch from installation i where i.singleton`,
    [organizationId, now],
  )
  await insertKey(tx, clock, { name: 'First key', scopes: ['*'] }, first)
}

async function insertKey(
  tx: Tx,
  clock: Clock,
  { name, scopes }: { readonly name: string; readonly scopes: readonly string[] },
  { organizationId, apiKeyId, token }: NewKey,
): Promise<void> {
  const now = formatTimestamp(clock.now())
  await tx.query(
    'insert into api_keys (organization_id, id, name, scopes, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)',
    [organizationId, apiKeyId, name, scopes, now],
  )
  await tx.query(
    'insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at) values ($1, $2, $3, $4, $5)',
    [Buffer.from(hashToken(token), 'hex'), organizationId, apiKeyId, token.slice(-4), now],
  )
}
