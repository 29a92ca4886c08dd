/**
 * The key pairs of the asymmetric signature (specification 10.2): one for each organization, so that no tenant can sign for another. They
 * are derived from the encryption key and stored nowhere; every process that can open the secrets has them. While one encryption key
 * replaces another (decision 56), the pairs of both sign and both are published.
 */
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { EncryptionKeys } from './vault.ts'

/** What precedes the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The private keys that sign for an organization, the newest first. */
export function signingKeysOf({ current, previous }: EncryptionKeys, organizationId: string): KeyObject[] {
  return [current, previous].flatMap((key) => {
    if (key === null) return []
    const seed = hkdfSync('sha256', key, '', `deskwire webhook signing key 1\n${organizationId}`, 32)
    const der = Buffer.concat([pkcs8, Buffer.from(seed)])
    return [createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })]
  })
}

export interface PublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  /** The key's thumbprint (RFC 7638). */
  readonly kid: string
  readonly use: 'sig'
  readonly alg: 'EdDSA'
}

/** The public halves as a JSON Web Key Set, in the same order. */
export function publicKeysOf(keys: readonly KeyObject[]): { readonly keys: readonly PublicKey[] } {
  return {
    keys: keys.map((key) => {
      const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
      const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
      return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }
    }),
  }
}
