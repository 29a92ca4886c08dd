/**
 * Whether an encryption key is the one that the signing secrets of a database are sealed with. The database keeps a check
 * value of its key, so that a wrong one is found when a process starts and not when it has something to deliver.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Pool } from 'pg'
import { createSecretBox, SecretBoxError } from './secrets.ts'

type Queryable = Pick<Pool, 'query'>

/** Says which key it is to whoever has the key, and nothing about it to anybody else. */
function checkOf(key: Buffer): Buffer {
  return createHmac('sha256', key).update('deskwire encryption key check 1').digest()
}

/** In the place of a check value: the next key that comes is taken, whether it opens the secrets or not. */
const anyKey = Buffer.alloc(0)

/**
 * Whether the key is the database's. A database without a check value takes it: a new one, and one of an earlier release
 * unless it holds a secret that the key does not open.
 */
export async function claimKey(db: Queryable, key: Buffer): Promise<boolean> {
  const standing = await readCheck(db)
  if (standing !== null && standing.length > 0) return timingSafeEqual(standing, checkOf(key))
  if (standing === null && !(await opensSecrets(db, key))) return false
  await db.query(
    'update installation set key_check = $1 where singleton and key_check is not distinct from $2',
    [checkOf(key), standing],
  )
  // Of processes that start at once with different keys, one was first.
  const claimed = await readCheck(db)
  return claimed !== null && timingSafeEqual(claimed, checkOf(key))
}

/** Makes this the key of the database, whatever it was; with null, the next one that comes. */
export async function replaceKey(db: Queryable, key: Buffer | null): Promise<void> {
  await db.query('update installation set key_check = $1 where singleton', [
    key === null ? anyKey : checkOf(key),
  ])
}

/** Whether the key opens the newest signing secret; true where there is none. */
export async function opensSecrets(db: Queryable, key: Buffer | null): Promise<boolean> {
  const { rows } = await db.query<{ organization_id: string; webhook_id: string; sealed: Buffer }>(
    'select s.organization_id, s.webhook_id, s.sealed from webhook_secrets s order by s.created_at desc limit 1',
  )
  const [secret] = rows
  if (secret === undefined) return true
  if (key === null) return false
  try {
    const { organization_id: organizationId, webhook_id: webhookId, sealed } = secret
    createSecretBox(key).open(sealed, { organizationId, webhookId })
    return true
  } catch (error) {
    if (error instanceof SecretBoxError) return false
    throw error
  }
}

async function readCheck(db: Queryable): Promise<Buffer | null> {
  const { rows } = await db.query<{ key_check: Buffer | null }>(
    'select i.key_check from installation i where i.singleton',
  )
  return rows[0]?.key_check ?? null
}
