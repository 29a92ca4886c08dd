/**
 * Signing secrets: how one is made, and how it is kept (specification 9.3). Deliveries need the secret itself,
 * so it cannot be hashed: it is encrypted at rest with AES-256-GCM under the installation's key.
 *
 * A sealed secret is a version byte, a nonce of 12 bytes, the ciphertext and a tag of 16 bytes. The version and the
 * ids of its organization and endpoint are authenticated with it, so that whoever can write the table, but has no
 * key, cannot give one endpoint the secret of another.
 *
 * The key comes from DESKWIRE_ENCRYPTION_KEY or, beside the embedded database, from a file made at the first start
 * (specification 2.2). Without it no stored secret can be read, so the file appears whole or not at all and is never replaced.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivate, syncDirectory } from '@deskwire/embedded-postgres'

/** Bytes of a key for AES-256. */
const keyLength = 32

/** Reads a key as `openssl rand -base64 32` writes one; undefined when `text` is not 32 bytes in base64. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64')
  // Node passes over what is not base64, so the text is compared with what it should have been.
  return key.length === keyLength && key.toString('base64') === text ? key : undefined
}

/** The check value of a key: says which key it is to whoever has the key, and nothing about it to anybody else. */
export function keyCheckOf(key: Buffer): Buffer {
  return createHmac('sha256', key).update('deskwire encryption key check 1').digest()
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

const version = 1
const nonceLength = 12
const tagLength = 16
const algorithm = 'aes-256-gcm'

/**
 * A new secret: `whsec_` and 32 random bytes in standard base64, as Standard Webhooks has them. Its Python verifier drops the characters of
 * base64url silently, and then verifies with another key.
 */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Whose secret it is. Ids as the database writes them, in lower case. */
export interface SecretOwner {
  readonly organizationId: string
  readonly webhookId: string
}

/** Seals and opens secrets under one key. */
export interface SecretBox {
  /** The bytes to store, different at every call. */
  seal(secret: string, owner: SecretOwner): Buffer
  /** The secret again. Throws SecretBoxError when the key or the owner is another, or the bytes were altered. */
  open(sealed: Uint8Array, owner: SecretOwner): string
}

/** Stored bytes that cannot be opened; the message says what to look at and holds nothing secret. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError'
}

/**
 * A box under the key of `parseEncryptionKey` or `loadOrCreateEncryptionKey`. Random nonces are safe for 2^32 seals
 * under one key: four a second for thirty years. Throws RangeError for a key that has not 32 bytes.
 */
export function createSecretBox(key: Buffer): SecretBox {
  if (key.length !== keyLength) throw new RangeError(`the encryption key has ${key.length} bytes, not 32`)
  return {
    seal(secret, owner) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagLength })
      cipher.setAAD(associated(owner))
      const text = [cipher.update(secret, 'utf8'), cipher.final()]
      return Buffer.concat([Buffer.of(version), nonce, ...text, cipher.getAuthTag()])
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const which = `the signing secret of webhook ${owner.webhookId}`
      if (bytes.length < 1 + nonceLength + tagLength) throw new SecretBoxError(`${which} is cut short`)
      if (bytes[0] !== version) {
        throw new SecretBoxError(
          `${which} is stored in format ${bytes[0]}, and this release reads ${version}: start a later one`,
        )
      }
      const nonce = bytes.subarray(1, 1 + nonceLength)
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength })
      decipher.setAAD(associated(owner))
      decipher.setAuthTag(bytes.subarray(-tagLength))
      const text = decipher.update(bytes.subarray(1 + nonceLength, -tagLength))
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new SecretBoxError(
          `${which} does not open: DESKWIRE_ENCRYPTION_KEY (or encryption.key in the data directory) is not the key it was sealed with, or the stored bytes were altered. Set the old key again, or rotate the secret`,
          { cause },
        )
      }
    },
  }
}

/** No two owners give the same bytes: a line break stands in no id. */
function associated({ organizationId, webhookId }: SecretOwner): Buffer {
  return Buffer.from(`deskwire signing secret ${version}\n${organizationId}\n${webhookId}`)
}
