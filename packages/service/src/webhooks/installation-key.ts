/**
 * Whether the encryption keys of a process are those that the signing secrets of a database are sealed with. The database names
 * its key by a check value, so that a wrong one is found when a process starts and not when it has something to deliver; while
 * one key replaces another it names both (decision 56).
 */
import { timingSafeEqual } from 'node:crypto'
import type { Pool } from 'pg'
import { keyCheckOf, SecretBoxError } from './secrets.ts'
import { createOpener, type EncryptionKeys } from './vault.ts'

type Queryable = Pick<Pool, 'query'>

/** The check values of the keys that a database names. */
interface NamedKeys {
  /** What is sealed now is sealed with it. Null: the next key that comes is taken, whether it opens the secrets or not. */
  readonly current: Buffer | null
  /** What was sealed before may be sealed with it still: a replacement is not finished. */
  readonly previous: Buffer | null
}

/** `held`: the process has every key that the database names. `unfinished`: it has the current one, and not the one before. */
export type KeyStanding = 'held' | 'another' | 'unfinished'

/** Whether these are the keys of the database. One without a check value takes that of the current key. */
export async function claimKey(db: Queryable, keys: EncryptionKeys): Promise<KeyStanding> {
  const standing = await readNamedKeys(db)
  if (standing.current === null) {
    await db.query('update installation set key_check = $1 where singleton and key_check is null', [
      keyCheckOf(keys.current),
    ])
  }
  // Of processes that start at once with different keys, one was first.
  return standingOf(await readNamedKeys(db), keys)
}

/** How the keys that a process holds stand to those that the database names. */
export function standingOf({ current, previous }: NamedKeys, keys: EncryptionKeys): KeyStanding {
  const held = [keys.current, keys.previous].flatMap((key) => (key === null ? [] : [keyCheckOf(key)]))
  const isHeld = (check: Buffer) => held.some((one) => isSameCheck(one, check))
  if (current === null || !isHeld(current)) return 'another'
  return previous === null || isHeld(previous) ? 'held' : 'unfinished'
}

/** Whether two check values are of the same key. */
export function isSameCheck(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Makes these the keys of the database, whatever they were; with null, the next one that comes. */
export async function replaceKey(db: Queryable, keys: EncryptionKeys | null): Promise<void> {
  await db.query('update installation set key_check = $1, previous_key_check = $2 where singleton', [
    keys === null ? null : keyCheckOf(keys.current),
    keys === null || keys.previous === null ? null : keyCheckOf(keys.previous),
  ])
}

/** Whether one of the keys opens the newest signing secret; true where there is none. */
export async function opensSecrets(db: Queryable, keys: EncryptionKeys | null): Promise<boolean> {
  const secret = await newestSecret(db)
  if (secret === null) return true
  if (keys === null) return false
  const { organization_id: organizationId, webhook_id: webhookId, sealed } = secret
  try {
    createOpener(keys)(sealed, { organizationId, webhookId })
    return true
  } catch (error) {
    if (error instanceof SecretBoxError) return false
    throw error
  }
}

async function newestSecret(db: Queryable) {
  const { rows } = await db.query<{ organization_id: string; webhook_id: string; sealed: Buffer }>(
    'select s.organization_id, s.webhook_id, s.sealed from webhook_secrets s order by s.created_at desc limit 1',
  )
  return rows[0] ?? null
}

/** What the database names now. */
export async function readNamedKeys(db: Queryable): Promise<NamedKeys> {
  const { rows } = await db.query<{ key_check: Buffer | null; previous_key_check: Buffer | null }>(
    'select i.key_check, i.previous_key_check from installation i where i.singleton',
  )
  const [row] = rows
  return { current: row?.key_check ?? null, previous: row?.previous_key_check ?? null }
}
