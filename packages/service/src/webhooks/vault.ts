/**
 * Encrypts and decrypts secrets in a process: under its encryption key or, during a rotation, under two
 * (decision 56). Decrypts with either key. Encrypts with the one that the database names now, so that
 * processes with only that key can read it too.
 */
import { timingSafeEqual } from 'node:crypto'
import { encodeResponse, type Sealed } from '../idempotency/stored-responses.ts'
import type { ResponseToStore } from '../journal/change.ts'
import { createSecretBox, keyCheckOf, type SecretBox, SecretBoxError, type SecretOwner } from './secrets.ts'

/** The keys of a process. */
export interface EncryptionKeys {
  /** DESKWIRE_ENCRYPTION_KEY, or the key in the data directory. */
  readonly current: Buffer
  /** DESKWIRE_ENCRYPTION_KEY_PREVIOUS. */
  readonly previous: Buffer | null
}

/** The keys in the settings of deliveries. */
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
  return (sealed, owner) => {
    try {
      return box.open(sealed, owner)
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error
      return other.open(sealed, owner)
    }
  }
}

export interface Vault {
  readonly open: Opener
  /** The bytes to store, with the check value of their key. */
  seal(secret: string, owner: SecretOwner): Promise<Sealed>
}

/**
 * `named`: the check value of the key that the database names now; null when it names none. Called only when
 * there are two keys.
 */
export function createVault(keys: EncryptionKeys, named: () => Promise<Buffer | null>): Vault {
  const { current, previous } = keys
  const boxOf = (key: Buffer) => ({ box: createSecretBox(key), keyCheck: keyCheckOf(key) })
  const first = boxOf(current)
  const second = previous === null ? null : boxOf(previous)

  async function naming() {
    if (second === null) return first
    const check = await named()
    return check?.length === second.keyCheck.length && timingSafeEqual(check, second.keyCheck)
      ? second
      : first
  }
  return {
    open: createOpener(keys),
    async seal(secret, owner) {
      const { box, keyCheck } = await naming()
      return { bytes: box.seal(secret, owner), keyCheck }
    },
  }
}

/**
 * The response to a POST outside the journal, as the database functions store it for its Idempotency-Key:
 * encrypted, because it may contain a secret. Null without an Idempotency-Key.
 */
export async function sealResponse(
  vault: Vault,
  owner: SecretOwner,
  record: ResponseToStore | null,
  answer: string,
): Promise<string | null> {
  return record === null ? null : encodeResponse(record, { sealed: await vault.seal(answer, owner) })
}
