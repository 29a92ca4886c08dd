/** Encrypts and decrypts secrets. During a rotation (decision 56), encrypts with the key that the database names; decrypts with either. */
import { encodeResponse, type Sealed } from '../idempotency/stored-responses.ts'
import type { ResponseToStore } from '../journal/change.ts'
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

/** The response as the database functions store it for its Idempotency-Key: encrypted, as it may contain a secret. Null without a key. */
export async function sealResponse(
  vault: Vault,
  owner: SecretOwner,
  record: ResponseToStore | null,
  answer: string,
): Promise<string | null> {
  return record === null ? null : encodeResponse(record, { sealed: await vault.seal(answer, owner) })
}
