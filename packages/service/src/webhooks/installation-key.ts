/** Compares a process's encryption keys with the check value that the database stores (two in a rotation, decision 56), at its start. */
import type { Pool } from 'pg'
import { keyCheckOf, tryOpening } from './secrets.ts'
import { createOpener, type EncryptionKeys } from './vault.ts'

type Queryable = Pick<Pool, 'query'>

interface NamedKeys {
  /** The key for new secrets. Null: the database accepts the next key, whether it opens the secrets or not. */
  readonly current: Buffer | null
  /** The key of older secrets, until the rotation is finished. */
  readonly previous: Buffer | null
}

/** `held`: the process has every key of the database. `unfinished`: it lacks the previous one. */
export type KeyStatus = 'held' | 'another' | 'unfinished'

/** Checks the keys. A database without a check value stores that of the current key. */
export async function claimKey(db: Queryable, keys: EncryptionKeys): Promise<KeyStatus> {
  const named = await readNamedKeys(db)
  if (named.current === null) {
    await db.query('update installation set key_check = $1 where singleton and key_check is null', [
      keyCheckOf(keys.current),
    ])
  }
  // Of processes that start at once with different keys, the first one wins.
  return keyStatusOf(await readNamedKeys(db), keys)
}

export function keyStatusOf({ current, previous }: NamedKeys, keys: EncryptionKeys): KeyStatus {
  const held = [keys.current, keys.previous].flatMap((key) => (key === null ? [] : [keyCheckOf(key)]))
  const isHeld = (check: Buffer) => held.some((one) => one.equals(check))
  if (current === null || !isHeld(current)) return 'another'
  return previous === null || isHeld(previous) ? 'held' : 'unfinished'
}

/** Sets the keys of the database; null: it accepts the next key. */
export async function replaceKey(db: Queryable, keys: EncryptionKeys | null): Promise<void> {
  await db.query('update installation set key_check = $1, previous_key_check = $2 where singleton', [
    keys === null ? null : keyCheckOf(keys.current),
    keys === null || keys.previous === null ? null : keyCheckOf(keys.previous),
  ])
}

/** Whether one of the keys opens the newest signing secret; true without secrets. */
export async function opensSecrets(db: Queryable, keys: EncryptionKeys | null): Promise<boolean> {
  const { rows } = await db.query<{ organization_id: string; webhook_id: string; sealed: Buffer }>(
    'select s.organization_id, s.webhook_id, s.sealed from webhook_secrets s order by s.created_at desc limit 1',
  )
  const [row] = rows
  if (row === undefined) return true
  if (keys === null) return false
  const { organization_id: organizationId, webhook_id: webhookId, sealed } = row
  return tryOpening(createOpener(keys), sealed, { organizationId, webhookId }) !== null
}

export async function readNamedKeys(db: Queryable): Promise<NamedKeys> {
  const { rows } = await db.query<{ key_check: Buffer | null; previous_key_check: Buffer | null }>(
    'select i.key_check, i.previous_key_check from installation i where i.singleton',
  )
  const [row] = rows
  return { current: row?.key_check ?? null, previous: row?.previous_key_check ?? null }
}
