/**
 * Signing secrets (specification 9.3). Deliveries need the secret itself, so it is encrypted at rest with AES-256-GCM.
 *
 * Encrypted bytes are a version, a nonce of 12 bytes, the ciphertext and a tag of 16 bytes. The version and the ids of
 * organization and endpoint are authenticated, so whoever can write the table, but has no key, cannot give one endpoint
 * the secret of another.
 *
 * The key comes from DESKWIRE_ENCRYPTION_KEY or, with the embedded database, from a file created at the first start
 * (specification 2.2), which is written atomically and never replaced.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivate, syncDirectory } from '@deskwire/embedded-postgres'

const keyLength = 32

/** The form of a signing secret: a prefix, and bytes in standard base64. */
export const secretForm = /^whsec_[A-Za-z0-9+/]+={0,2}$/

/**
 * Whether a client may choose this secret: it has 24 to 64 bytes, as Standard Webhooks ask, and no character that
 * decoders ignore.
 */
export function isSigningSecret(text: string): boolean {
  if (!secretForm.test(text)) return false
  const encoded = text.slice('whsec_'.length)
  const bytes = Buffer.from(encoded, 'base64')
  const padded = bytes.toString('base64')
  return bytes.length >= 24 && bytes.length <= 64 && [padded, padded.replace(/=+$/, '')].includes(encoded)
}

/** Parses a key in the format of `openssl rand -base64 32`; undefined when `text` is not 32 bytes in base64. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64')
  // Node ignores characters that are not base64, so the text is compared with the encoded key.
  return key.length === keyLength && key.toString('base64') === text ? key : undefined
}

/** Identifies a key without revealing anything about it. */
export function keyCheckOf(key: Buffer): Buffer {
  return createHmac('sha256', key).update('deskwire encryption key check 1').digest()
}

/**
 * The key in `encryption.key`, created when missing; processes that start at once agree on one. @throws Error when it
 * cannot be used.
 */
export async function loadOrCreateEncryptionKey(dataDir: string): Promise<Buffer> {
  const path = keyFile(dataDir)
  return keyIn(path, (await read(path)) ?? (await create(path, dataDir)))
}

/**
 * The key in `encryption.key` of a data directory; null without one. @throws Error when it is invalid or cannot be
 * read.
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

async function create(path: string, dataDir: string): Promise<string> {
  const text = `${randomBytes(keyLength).toString('base64')}\n`
  const made = await createPrivate(path, text, await stat(dataDir))
  // Synced, so that nothing is encrypted with a key that a power failure loses.
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
 * `whsec_` and 32 random bytes in standard base64: Standard Webhooks' Python verifier drops the characters of
 * base64url.
 */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Ids in lower case, as in the database. */
export interface SecretOwner {
  readonly organizationId: string
  readonly webhookId: string
}

export interface SecretBox {
  /** The bytes to store, different at every call. */
  seal(secret: string, owner: SecretOwner): Buffer
  /** @throws SecretBoxError when the key or the owner differs, or the bytes were changed. */
  open(sealed: Uint8Array, owner: SecretOwner): string
}

/** Stored bytes that cannot be decrypted; the message says what to check and contains no secret. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError'
}

/** The secret; null when its key, owner or bytes are wrong. */
export function tryOpening(open: SecretBox['open'], sealed: Uint8Array, owner: SecretOwner): string | null {
  try {
    return open(sealed, owner)
  } catch (error) {
    if (error instanceof SecretBoxError) return null
    throw error
  }
}

/**
 * Random nonces are safe for 2^32 encryptions per key: four a second for thirty years. @throws RangeError unless it has
 * 32 bytes.
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

/** Unambiguous, because ids contain no line break. */
function associated({ organizationId, webhookId }: SecretOwner): Buffer {
  return Buffer.from(`deskwire signing secret ${version}\n${organizationId}\n${webhookId}`)
}
