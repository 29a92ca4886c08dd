/**
 * The key that signing secrets are encrypted with: from DESKWIRE_ENCRYPTION_KEY, or, beside the embedded database,
 * from a file made at the first start (specification 2.2). Without it no stored secret can be read, so the file
 * appears whole or not at all and is never replaced.
 */
import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivate, syncDirectory } from '../db/embedded/datadir.ts'

/** Bytes of a key for AES-256. */
export const keyLength = 32

/** Reads a key as `openssl rand -base64 32` writes one; undefined when `text` is not 32 bytes in base64. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64')
  // Node passes over what is not base64, so the text is compared with what it should have been.
  return key.length === keyLength && key.toString('base64') === text ? key : undefined
}

/**
 * The key in `encryption.key` of a data directory that exists, made first where there is none. Processes that start
 * at once agree on one key. Back the file up with the database: a dump without it holds no usable secret.
 * @throws Error when the file is there but holds no key, or cannot be read or made.
 */
export async function loadOrCreateEncryptionKey(dataDir: string): Promise<Buffer> {
  const path = keyFile(dataDir)
  return keyIn(path, (await read(path)) ?? (await create(path, dataDir)))
}

/**
 * The key in `encryption.key` of a data directory; null when there is none.
 * @throws Error when the file is there but holds no key, or cannot be read.
 */
export async function loadEncryptionKey(dataDir: string): Promise<Buffer | null> {
  const path = keyFile(dataDir)
  const text = await read(path)
  return text === null ? null : keyIn(path, text)
}

const keyFile = (dataDir: string) => join(dataDir, 'encryption.key')

function keyIn(path: string, text: string): Buffer {
  const key = parseEncryptionKey(text.trim())
  if (key !== undefined) return key
  throw new Error(
    `${path} does not hold 32 bytes in base64: put the file back from a backup. It is not replaced, because what was encrypted with the old key would be lost`,
  )
}

/** Makes the file unless another process just did, and reads whichever is there. */
async function create(path: string, dataDir: string): Promise<string> {
  const text = `${randomBytes(keyLength).toString('base64')}\n`
  const made = await createPrivate(path, text, await stat(dataDir))
  // Nothing may be encrypted with a key that a power cut would take away.
  await syncDirectory(dataDir)
  return made ? text : await readFile(path, 'utf8')
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
