/**
 * Signs deliveries with the SDK's own code (specification 10.2), so that what is sent and what receivers
 * verify cannot drift apart. Only the hash is another: node:crypto's, which is synchronous, with key objects that
 * are kept.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import { type Hmac, signatureHeader } from '@deskwire/sdk/signature'
import type { EndpointKey } from './model.ts'
import { deliveryTuning } from './tuning.ts'

/** The value of X-Service-Signature for a body sent at `timestamp`, in whole unix seconds. */
export type Sign = (timestamp: number, body: string | Uint8Array) => string

/** What signs with these secrets of an endpoint, sealed, newest first: one `v1` for each. Throws what opening one throws. */
export type Signer = (sealedSecrets: readonly Buffer[], owner: EndpointKey) => Sign

/** As a SecretBox opens it. */
export type Open = (sealed: Buffer, owner: EndpointKey) => string

/**
 * A signer that keeps the key objects of the `capacity` secrets used last, so that few are opened again; a secret that signs
 * no more leaves as others come.
 */
export function createSigner(
  open: Open,
  { capacity = deliveryTuning.sender.rememberedSecrets }: { capacity?: number } = {},
): Signer {
  const kept = new Map<string, Hmac>()
  const hmacOf = (sealed: Buffer, owner: EndpointKey): Hmac => {
    // With its owner: whose it is said to be is part of what opening it proves.
    const name = `${owner.organizationId} ${owner.webhookId} ${sealed.toString('base64')}`
    const known = kept.get(name)
    const hmac = known ?? newHmac(open(sealed, owner))
    // A Map holds its entries in the order they came: used last stands last.
    if (known !== undefined) kept.delete(name)
    kept.set(name, hmac)
    for (const oldest of kept.keys()) {
      if (kept.size <= capacity) break
      kept.delete(oldest)
    }
    return hmac
  }
  return (sealedSecrets, owner) => {
    // A delivery without a signature would be refused by its receiver six times over, and nobody would know why.
    if (sealedSecrets.length === 0) throw new RangeError('a delivery needs at least one secret to sign with')
    const hmacs = sealedSecrets.map((sealed) => hmacOf(sealed, owner))
    return (timestamp, body) => signatureHeader(timestamp, body, hmacs)
  }
}

function newHmac(secret: string): Hmac {
  const key = createSecretKey(secret, 'utf8')
  return (prefix, body) => createHmac('sha256', key).update(prefix).update(body).digest('hex')
}
