/**
 * Where secrets are sealed and opened by a process: under its encryption key or, while one key replaces another, under two
 * (decision 56). Whatever either of them sealed is opened. Sealed is with the one that the database names at that moment, so
 * that processes that hold that one alone can read it too.
 */
import { timingSafeEqual } from 'node:crypto'
import { encodeResponse, type Sealed } from '../idempotency/stored-responses.ts'
import type { ResponseToStore } from '../journal/change.ts'
import { createSecretBox, keyCheckOf, type SecretBox, SecretBoxError, type SecretOwner } from './secrets.ts'

/** The keys that a process holds. */
export interface EncryptionKeys {
  /** DESKWIRE_ENCRYPTION_KEY, or the data directory's. */
  readonly current: Buffer
  /** DESKWIRE_ENCRYPTION_KEY_PREVIOUS. */
  readonly previous: Buffer | null
}

/** The keys among the settings of deliveries. */
export function keysOf(settings: {
  readonly encryptionKey: Buffer
  readonly encryptionKeyPrevious: Buffer | null
}): EncryptionKeys {
  return { current: settings.encryptionKey, previous: settings.encryptionKeyPrevious }
}

/** Opens what any of the keys has sealed, as a SecretBox does. */
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
  /** The bytes to store, with the check value that the database takes them by. */
  seal(secret: string, owner: SecretOwner): Promise<Sealed>
}

/** `named`: the check value of the key that the database names now; null when it names none. Asked only when there are two. */
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
 * The response to a POST that does not go through the journal, as the functions of the database store it for its
 * Idempotency-Key: sealed, as it may hold a secret. Null without a key.
 */
export async function sealResponse(
  vault: Vault,
  owner: SecretOwner,
  record: ResponseToStore | null,
  answer: string,
): Promise<string | null> {
  return record === null ? null : encodeResponse(record, { sealed: await vault.seal(answer, owner) })
}
