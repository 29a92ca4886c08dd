/**
 * Replaces the encryption key while processes with both keys are running (decision 56). First the database names the
 * new key and accepts only secrets encrypted with it; then all secrets are encrypted again, in pieces; then the
 * database forgets the old key. It can be interrupted anywhere and repeated.
 */
import type { Pool } from 'pg'
import { notServedOrganizations } from '../../db/not-served.ts'
import { transaction } from '../../db/pool.ts'
import { createSecretBox, keyCheckOf, type SecretOwner, tryOpening } from './secrets.ts'
import { claimKey, createOpener, type EncryptionKeys, readNamedKeys } from './vault.ts'

/** The keys do not match the database; the message says what to set. */
export class KeyRotationError extends Error {}

interface KeyRotation {
  /** Values that were encrypted again: signing secrets, and stored responses with a secret or token. */
  readonly secrets: number
  readonly responses: number
  /** Endpoints with a secret that neither key opens; it stays as it is. */
  readonly unreadable: readonly string[]
}

interface KeyRotationOptions {
  readonly onPiece?: (sealed: number) => void | Promise<void>
  readonly rowsAPiece?: number
}

/** A few milliseconds of work. */
const pieceOfRows = 500

/** Resolves when nothing needs `previous` any more. @throws KeyRotationError when the database has other keys. */
export async function rotateEncryptionKey(
  pool: Pool,
  keys: EncryptionKeys & { readonly previous: Buffer },
  { onPiece = () => {}, rowsAPiece = pieceOfRows }: KeyRotationOptions = {},
): Promise<KeyRotation> {
  await begin(pool, keys)
  let sealed = 0
  const unreadable = new Set<string>()
  const pass = async (table: SealedTable) => {
    const before = sealed
    for (let after: RowKey | null = null; ; ) {
      const rows = await table.read(pool, after, rowsAPiece)
      const last = rows.at(-1)
      if (last === undefined) return sealed - before
      sealed += await sealAnew(pool, table, rows, keys, (lost) => unreadable.add(lost))
      await onPiece(sealed)
      after = last.rowKey
    }
  }
  const secrets = (await pass(signingSecrets)) + (await pass(ownHeaders))
  const responses = await pass(storedResponses)
  await finish(pool, keys)
  return { secrets, responses, unreadable: [...unreadable].sort() }
}

/** Names the new key next to the old one. Waits for running commits that use the old one. */
async function begin(pool: Pool, keys: EncryptionKeys & { readonly previous: Buffer }): Promise<void> {
  const [current, previous] = [keyCheckOf(keys.current), keyCheckOf(keys.previous)]
  if (current.equals(previous))
    throw new KeyRotationError(
      'DESKWIRE_ENCRYPTION_KEY and DESKWIRE_ENCRYPTION_KEY_PREVIOUS are the same key: set the first to the new one (openssl rand -base64 32) and the second to the one that it replaces',
    )
  if ((await claimKey(pool, keys)) !== 'held') throw notTheKeys()
  await transaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `update installation set key_check = $1, previous_key_check = $2
         where singleton and key_check in ($1, $2) and (previous_key_check is null or previous_key_check in ($1, $2))`,
      [current, previous],
    )
    if (rowCount === 0) throw notTheKeys()
  })
}

/** Forgets the old key: the database accepted only secrets under the new one since `begin`. */
async function finish(pool: Pool, keys: EncryptionKeys): Promise<void> {
  const current = keyCheckOf(keys.current)
  await pool.query('update installation set previous_key_check = null where singleton and key_check = $1', [
    current,
  ])
  const named = await readNamedKeys(pool)
  if (named.current === null || !named.current.equals(current))
    throw new KeyRotationError(
      'the encryption key of this database was replaced by another one meanwhile: run deskwire encryption-key rotate once, with one pair of keys everywhere',
    )
}

function notTheKeys(): KeyRotationError {
  return new KeyRotationError(
    'the signing secrets of this database are encrypted with a key that is neither DESKWIRE_ENCRYPTION_KEY nor DESKWIRE_ENCRYPTION_KEY_PREVIOUS: set the first to the new key and the second to the one that it replaces; nothing was changed',
  )
}

type RowKey = readonly string[]

interface SealedRow {
  readonly rowKey: RowKey
  /** Null when the row has no secret. */
  readonly sealed: Buffer | null
  readonly owner: SecretOwner
}

interface SealedTable {
  /** Rows after this key, in the order of the primary key. */
  read(pool: Pool, after: RowKey | null, limit: number): Promise<readonly SealedRow[]>
  /**
   * Replaces unchanged bytes; returns the replaced rows. Skips locked ones unless `waiting`, so that two rotations
   * cannot deadlock.
   */
  replace(pool: Pool, changes: readonly Change[], waiting: boolean): Promise<readonly string[]>
}

interface Change {
  readonly rowKey: RowKey
  readonly was: Buffer
  readonly becomes: Buffer
}

/** Encrypts secrets of these rows that the previous key encrypted; returns their number. */
async function sealAnew(
  pool: Pool,
  table: SealedTable,
  rows: readonly SealedRow[],
  keys: EncryptionKeys & { readonly previous: Buffer },
  onUnreadable: (webhookId: string) => void,
): Promise<number> {
  const box = createSecretBox(keys.current)
  const openOld = createOpener({ current: keys.previous, previous: null })
  const changes: Change[] = []
  for (const { rowKey, sealed: was, owner } of rows) {
    if (was === null || tryOpening(box.open, was, owner) !== null) continue
    const secret = tryOpening(openOld, was, owner)
    if (secret === null) onUnreadable(owner.webhookId)
    else changes.push({ rowKey, was, becomes: box.seal(secret, owner) })
  }
  if (changes.length === 0) return 0
  const done = new Set(await table.replace(pool, changes, false))
  // One row at a time, so that two processes cannot deadlock.
  for (const change of changes)
    if (!done.has(nameOf(change.rowKey)))
      for (const name of await table.replace(pool, [change], true)) done.add(name)
  // Missing rows were deleted, or replaced by another process.
  return done.size
}

const nameOf = (rowKey: RowKey) => rowKey.join('\n')

/** A table by its primary key (types by name) and the column whose id the secret is bound to. */
function sealedTable(
  table: string,
  key: Readonly<Record<string, string>>,
  subject: string,
  column = 'sealed',
): SealedTable {
  const names = Object.keys(key)
  const types = Object.values(key)
  const of = (alias: string) => names.map((name) => `${alias}.${name}`).join(', ')
  const parameters = types.map((type, n) => `$${n + 2}::${type}`).join(', ')
  const arrays = types.map((type, n) => `$${n + 3}::${type}[]`).join(', ')
  const same = (one: string, other: string) =>
    names.map((name) => `${one}.${name} = ${other}.${name}`).join(' and ')
  return {
    async read(pool, after, limit) {
      const { rows } = await pool.query<{ row_key: string[]; sealed: Buffer | null; owner: string[] }>(
        `select array[${names.map((name) => `t.${name}::text`).join(', ')}] as row_key, t.${column} as sealed,
             array[t.organization_id::text, t.${subject}::text] as owner
           from ${table} t where t.organization_id <> all(${notServedOrganizations})
             ${after === null ? '' : `and (${of('t')}) > (${parameters})`} order by ${of('t')} limit $1`,
        [limit, ...(after ?? [])],
      )
      return rows.map(({ row_key: rowKey, sealed, owner: [organizationId = '', webhookId = ''] }) => ({
        rowKey,
        sealed,
        owner: { organizationId, webhookId },
      }))
    },
    async replace(pool, changes, waiting) {
      const { rows } = await pool.query<{ row_key: string[] }>(
        `with mine as (
           select ${of('t')}, c.becomes from ${table} t
             join unnest($1::bytea[], $2::bytea[], ${arrays}) as c(was, becomes, ${names.join(', ')})
               on ${same('t', 'c')} and t.${column} = c.was
             for update of t ${waiting ? '' : 'skip locked'})
         update ${table} t set ${column} = m.becomes from mine m where ${same('t', 'm')}
           returning array[${names.map((name) => `t.${name}::text`).join(', ')}] as row_key`,
        [
          changes.map(({ was }) => was),
          changes.map(({ becomes }) => becomes),
          ...names.map((_, n) => changes.map(({ rowKey }) => rowKey[n])),
        ],
      )
      return rows.map(({ row_key: rowKey }) => nameOf(rowKey))
    },
  }
}

const signingSecrets = sealedTable(
  'webhook_secrets',
  { organization_id: 'uuid', webhook_id: 'uuid', id: 'uuid' },
  'webhook_id',
)

const ownHeaders = sealedTable('webhooks', { organization_id: 'uuid', id: 'uuid' }, 'id', 'sealed_headers')

const storedResponses = sealedTable(
  'idempotency_keys',
  { organization_id: 'uuid', api_key_id: 'uuid', method: 'text', path: 'text', key: 'text' },
  'subject_id',
)
