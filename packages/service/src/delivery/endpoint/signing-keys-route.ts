/**
 * `/.well-known/jwks.json`: the public keys by which receivers verify the asymmetric signature of an organization's
 * deliveries.
 */

import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import { anId } from '../../http/list-parameters.ts'
import { problem } from '../../kernel/errors.ts'
import { done, refused } from '../../kernel/outcome.ts'
import { type ApiModule, routesOf } from '../../openapi/api-module.ts'
import type { EncryptionKeys } from './vault.ts'

const text = { type: 'string' } as const

const route = routesOf<EncryptionKeys>()({
  method: 'get',
  path: '/.well-known/jwks.json',
  id: 'getWebhookKeys',
  client: 'webhooks.publicKeys',
  tag: 'service',
  summary: 'The public keys that verify deliveries',
  description:
    'A JSON Web Key Set, for endpoints whose `signatures` include `v1a`. Two keys while the encryption key is rotated.',
  access: 'public',
  query: {
    organizationId: anId('Whose deliveries. Must be given: each organization has keys of its own.', null),
  },
  answers: {
    200: {
      description: 'The keys, the newest first.',
      schema: {
        type: 'object',
        required: ['keys'],
        properties: {
          keys: {
            type: 'array',
            items: {
              type: 'object',
              required: ['kty', 'crv', 'x', 'kid', 'use', 'alg'],
              properties: { kty: text, crv: text, x: text, kid: text, use: text, alg: text },
            },
          },
        },
      },
      examples: () => ({
        keys: {
          keys: [
            {
              kty: 'OKP',
              crv: 'Ed25519',
              x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
              kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
              use: 'sig',
              alg: 'EdDSA',
            },
          ],
        },
      }),
    },
  },
  errors: ['invalid_parameter'],
  handle(encryptionKeys, call) {
    const query = call.query()
    if (!query.ok) return refused(query.error)
    const { organizationId } = query.value
    if (organizationId === null) return refused(organizationMissing)
    return done(publicKeysOf(signingKeysOf(encryptionKeys, organizationId)))
  },
})

const organizationMissing = problem(
  'invalid_parameter',
  'organizationId is missing: each organization has keys of its own. Deliveries name theirs as organizationId.',
)

export const signingKeysApi = { tags: [], routes: [route] } satisfies ApiModule

/** What precedes the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The private keys that sign for an organization, the newest first: its own, so that no tenant can sign for another.
 * Derived from the encryption key and stored nowhere; while one encryption key replaces another, both sign.
 */
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
function publicKeysOf(keys: readonly KeyObject[]): { readonly keys: readonly PublicKey[] } {
  return {
    keys: keys.map((key) => {
      const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
      const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
      return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }
    }),
  }
}
