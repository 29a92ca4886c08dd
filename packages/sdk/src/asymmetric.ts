/** Verifies the asymmetric signature of deliveries (specification 10.2): Ed25519, `v1a` of Standard Webhooks. */
import type { WebhookEvent } from './event.ts'
import { bytesOf, type RawBody } from './signing.ts'
import {
  eventOf,
  messageOf,
  type RequestHeaders,
  SignatureError,
  standardParts,
  type VerifyOptions,
} from './verify.ts'

/** A public key as `/.well-known/jwks.json` lists it. */
export interface PublicKey {
  readonly kty: string
  readonly crv?: string
  readonly x?: string
}

/** Signatures checked at most: a sender adds fewer, and a forged header with many would cost processor time. */
const maxSignatures = 8

/**
 * Verifies a delivery without a shared secret, and returns its event. `publicKeys` are the `keys` of
 * `/.well-known/jwks.json?organizationId=…`, an address that you configure; any of them will do. Throws
 * SignatureError for a delivery that is refused: read the keys again then, as they change with the encryption key.
 * Throws TypeError where no key is given, or one that is not Ed25519.
 */
export const verifyAsymmetric = async (
  rawBody: RawBody,
  headers: RequestHeaders,
  publicKeys: readonly PublicKey[],
  options?: Omit<VerifyOptions, 'scheme'>,
): Promise<WebhookEvent> => {
  await verifyAsymmetricSignature(rawBody, headers, publicKeys, options)
  return eventOf(rawBody)
}

/** The same for a body of any content. */
export const verifyAsymmetricSignature = async (
  rawBody: RawBody,
  headers: RequestHeaders,
  publicKeys: readonly PublicKey[],
  options: Omit<VerifyOptions, 'scheme'> = {},
): Promise<void> => {
  const body = bytesOf(rawBody)
  if (publicKeys.length === 0) throw new TypeError('Give the public keys of the organization.')
  const keys = await Promise.all(publicKeys.map(imported))
  const parts = standardParts(headers, 'v1a,')
  const message = messageOf(parts, body, options)
  const signatures = parts.signatures.slice(0, maxSignatures).map(decoded)
  for (const key of keys) {
    for (const signature of signatures) {
      if (await crypto.subtle.verify('Ed25519', key, signature, message)) return
    }
  }
  throw new SignatureError('signature_mismatch')
}

const imported = async ({ kty, crv, x = '' }: PublicKey) => {
  try {
    if (kty !== 'OKP' || crv !== 'Ed25519') throw new TypeError(`It is ${kty} ${crv}.`)
    const raw = decoded(x.replaceAll('-', '+').replaceAll('_', '/'))
    return await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
  } catch (cause) {
    throw new TypeError('A public key is not an Ed25519 key as a JSON Web Key.', { cause })
  }
}

/** No bytes where it is no base64. */
const decoded = (base64: string): Uint8Array<ArrayBuffer> => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
