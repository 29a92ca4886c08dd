/** `/.well-known/jwks.json`: the public keys by which receivers verify the asymmetric signature of an organization's deliveries. */
import { anId } from '../http/list-parameters.ts'
import { problem } from '../kernel/errors.ts'
import { done, refused } from '../kernel/outcome.ts'
import { type ApiModule, routesOf } from '../openapi/api-module.ts'
import { publicKeysOf, signingKeysOf } from './signing-keys.ts'
import type { EncryptionKeys } from './vault.ts'

const text = { type: 'string' } as const

const route = routesOf<EncryptionKeys>()({
  method: 'get',
  path: '/.well-known/jwks.json',
  id: 'getWebhookKeys',
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
    const asked = call.query()
    if (!asked.ok) return refused(asked.error)
    const { organizationId } = asked.value
    if (organizationId === null) return refused(organizationMissing)
    return done(publicKeysOf(signingKeysOf(encryptionKeys, organizationId)))
  },
})

const organizationMissing = problem(
  'invalid_parameter',
  'organizationId is missing: each organization has keys of its own. Deliveries name theirs as organizationId.',
)

export const signingKeysApi = { tags: [], routes: [route] } satisfies ApiModule
