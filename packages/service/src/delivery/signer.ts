/**
 * Signs deliveries with the SDK's own code (specification, section 5), so that what is sent and what receivers
 * verify cannot drift apart. Only the hash is another: node:crypto's, which makes no promise per delivery, with key
 * objects that are kept.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import { type Hmac, signatureHeader } from '@deskwire/sdk/signature'

/** The value of X-Service-Signature for a body sent at `timestamp`, in whole unix seconds. */
export type Sign = (timestamp: number, body: string | Uint8Array) => string

/** What signs with these secrets, newest first: one `v1` for each. */
export type Signer = (secrets: readonly string[]) => Sign

/**
 * A signer that keeps the key objects of the `capacity` secrets used last. It keeps those secrets in memory too; a
 * secret that signs no more leaves as others come.
 */
export function createSigner({ capacity = 4_096 }: { capacity?: number } = {}): Signer {
  const kept = new Map<string, Hmac>()
  const hmacOf = (secret: string): Hmac => {
    const known = kept.get(secret)
    const hmac = known ?? newHmac(secret)
    // A Map holds its entries in the order they came: used last stands last.
    if (known !== undefined) kept.delete(secret)
    kept.set(secret, hmac)
    for (const oldest of kept.keys()) {
      if (kept.size <= capacity) break
      kept.delete(oldest)
    }
    return hmac
  }
  return (secrets) => {
    // A delivery without a signature would be refused by its receiver six times over, and nobody would know why.
    if (secrets.length === 0) throw new RangeError('a delivery needs at least one secret to sign with')
    const hmacs = secrets.map(hmacOf)
    return (timestamp, body) => signatureHeader(timestamp, body, hmacs)
  }
}

function newHmac(secret: string): Hmac {
  const key = createSecretKey(secret, 'utf8')
  return (prefix, body) => createHmac('sha256', key).update(prefix).update(body).digest('hex')
}
