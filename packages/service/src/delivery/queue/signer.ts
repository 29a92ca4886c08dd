/**
 * Signs deliveries with the SDK's code (specification 10.2), as receivers verify them, but with node:crypto's
 * synchronous hash.
 */
import { createHmac, createSecretKey, type KeyObject, sign as signWith } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import { type Hmac, signatureHeader, standardHeaders } from '@deskwire/sdk/signature'
import { LruMap } from '../../kernel/lru-map.ts'
import type { Endpoint, EndpointKey } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'

/** The headers that sign an event's body, sent at `timestamp` in whole Unix seconds. */
export type Sign = (
  eventId: string,
  timestamp: number,
  body: string | Uint8Array,
) => Readonly<Record<string, string>>

type Signing = Pick<Endpoint, 'sealedSecrets' | 'standardSignatures' | 'asymmetricSignature'>

/**
 * Signs with these encrypted secrets, newest first: one signature for each secret and scheme. Throws if a secret cannot
 * be decrypted.
 */
type Signer = (endpoint: Signing & Pick<Endpoint, 'sealedHeaders'>, owner: EndpointKey) => Sign

/**
 * A signer that keeps the `capacity` key objects used last, so that few secrets are decrypted again. `keysOf`: the
 * private keys that sign for an organization, newest first.
 */
export function createSigner(
  open: (sealed: Buffer, owner: EndpointKey) => string,
  keysOf: (organizationId: string) => readonly KeyObject[],
  { capacity = deliveryTuning.sender.rememberedSecrets }: { capacity?: number } = {},
): Signer {
  const hmacs = new LruMap<string, Hmac>(capacity)
  const hmacOf = (scheme: Scheme, sealed: Buffer, owner: EndpointKey): Hmac => {
    // The owner is part of the name, as decrypting proves whose secret it is.
    const name = `${owner.organizationId} ${owner.webhookId} ${scheme} ${sealed.toString('base64')}`
    return hmacs.getOrMake(name, () => newHmac[scheme](open(sealed, owner)))
  }
  const keptKeys = new LruMap<string, readonly KeyObject[]>(capacity)
  return ({ sealedHeaders = null, ...endpoint }, owner) => {
    const sign = signerOf(endpoint, owner)
    if (sealedHeaders === null) return sign
    // The endpoint's own come first, so that none replaces a signature.
    const own = readJson<Readonly<Record<string, string>>>(open(sealedHeaders, owner))
    return (...of) => ({ ...own, ...sign(...of) })
  }

  function signerOf(
    { sealedSecrets, standardSignatures, asymmetricSignature = false }: Signing,
    owner: EndpointKey,
  ): Sign {
    // A receiver would refuse a delivery without a signature at each attempt, and its log would not say why.
    if (sealedSecrets.length === 0) throw new RangeError('a delivery needs at least one secret to sign with')
    const service = sealedSecrets.map((sealed) => hmacOf('service', sealed, owner))
    if (!standardSignatures) {
      return (_, timestamp, body) => ({ 'x-service-signature': signatureHeader(timestamp, body, service) })
    }
    const standard = sealedSecrets.map((sealed) => hmacOf('standard', sealed, owner))
    const both: Sign = (eventId, timestamp, body) => ({
      'x-service-signature': signatureHeader(timestamp, body, service),
      ...standardHeaders(eventId, timestamp, body, standard),
    })
    if (!asymmetricSignature) return both
    const { organizationId } = owner
    const keys = keptKeys.getOrMake(organizationId, () => keysOf(organizationId))
    return (eventId, timestamp, body) => {
      const headers = both(eventId, timestamp, body)
      const message = Buffer.concat([Buffer.from(`${eventId}.${timestamp}.`), Buffer.from(body)])
      const added = keys.map((key) => ` v1a,${signWith(null, message, key).toString('base64')}`)
      return { ...headers, 'webhook-signature': `${headers['webhook-signature']}${added.join('')}` }
    }
  }
}

type Scheme = keyof typeof newHmac

const newHmac = {
  /** Keyed with the text of the secret as it is shown. */
  service(secret: string): Hmac {
    const key = createSecretKey(secret, 'utf8')
    return (prefix, body) => createHmac('sha256', key).update(prefix).update(body).digest('hex')
  },

  standard(secret: string): Hmac {
    const key = createSecretKey(Buffer.from(secret.slice('whsec_'.length), 'base64'))
    return (prefix, body) => createHmac('sha256', key).update(prefix).update(body).digest('base64')
  },
}
