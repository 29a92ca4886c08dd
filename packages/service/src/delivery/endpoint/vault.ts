/**
 * Encrypts and decrypts secrets. During a rotation (decision 56), encrypts with the key that the database names;
 * decrypts with either.
 */

import type { Pool } from 'pg'
import { encodeResponse, type Sealed } from '../../idempotency/stored-responses.ts'
import type { ResponseToStore } from '../../journal/change.ts'
import { createSecretBox, keyCheckOf, type SecretBox, type SecretOwner, tryOpening } from './secrets.ts'

export interface EncryptionKeys {
  readonly current: Buffer
  readonly previous: Buffer | null
}

export function keysOf(settings: {
  readonly encryptionKey: Buffer
  readonly encryptionKeyPrevious: Buffer | null
}): EncryptionKeys {
  return { current: settings.encryptionKey, previous: settings.encryptionKeyPrevious }
}

/** Decrypts with any of the keys, as a SecretBox does. */
type Opener = SecretBox['open']

export function createOpener({ current, previous }: EncryptionKeys): Opener {
  const box = createSecretBox(current)
  if (previous === null) return box.open
  const other = createSecretBox(previous)
  return (sealed, owner) => tryOpening(box.open, sealed, owner) ?? other.open(sealed, owner)
}

export type Vault = ReturnType<typeof createVault>

/** `named`: the check value of the database's key, null without one; called only with two keys. */
export function createVault(keys: EncryptionKeys, named: () => Promise<Buffer | null>) {
  const { current, previous } = keys
  const boxOf = (key: Buffer) => ({ box: createSecretBox(key), keyCheck: keyCheckOf(key) })
  const first = boxOf(current)
  const second = previous === null ? null : boxOf(previous)

  async function naming() {
    if (second === null) return first
    return (await named())?.equals(second.keyCheck) ? second : first
  }
  return {
    open: createOpener(keys),
    /** The bytes to store, with the check value of their key. */
    async seal(secret: string, owner: SecretOwner): Promise<Sealed> {
      const { box, keyCheck } = await naming()
      return { bytes: box.seal(secret, owner), keyCheck }
    },
  }
}

/**
 * The response as the database functions store it for its Idempotency-Key: encrypted, as it may contain a secret. Null
 * without a key.
 */
export async function sealResponse(
  vault: Vault,
  owner: SecretOwner,
  record: ResponseToStore | null,
  answer: string,
): Promise<string | null> {
  return record === null ? null : encodeResponse(record, { sealed: await vault.seal(answer, owner) })
}

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
