/** What `routes.ts` serves of keys, for the document. */
import { managingScope, scopeNames } from '../access/scopes.ts'
import { createdParameters, pageParameters } from '../http/list-openapi.ts'
import { exampleIdentity, exampleList, exampleTime } from '../openapi/examples.ts'
import { type ApiPart, type Operation, pageOf, ref } from '../openapi/part.ts'
import type { Kind } from '../resource/kind.ts'
import { inputs } from '../resource/kind-schemas.ts'
import { recordSchema } from '../resource/shown-field.ts'
import { keyShape } from './fields.ts'
import { keyFields, tokenField } from './records.ts'

const path = '/v1/api-keys'
const touches = 'Needs every scope of that key as well.'

/** API keys: making, changing, rotating and revoking them. */
export function keyPart(kinds: readonly Kind[]): ApiPart {
  const scopes = scopeNames(kinds.map(({ plural }) => plural))
  const shape = Object.entries(keyShape(scopes).fields)
  const fields = keyFields(scopes)
  const example = {
    ...exampleIdentity('api_key'),
    name: 'Search index',
    scopes: scopes.slice(0, 2),
    expiresAt: null,
    last4: 'hm22',
    previousTokenExpiresAt: null,
    lastUsedAt: null,
    updatedAt: exampleTime,
  }
  return {
    tags: [{ name: 'api-keys', description: 'Keys of the organization: scopes, tokens, revocation.' }],
    operations: [...collection(example), ...one(), ...tokens()],
    schemas: {
      ApiKey: recordSchema('An API key, without its token.', fields, example),
      ApiKeyWithToken: recordSchema(
        'An API key as creation and rotation answer it.',
        { ...fields, token: tokenField },
        { ...example, token: 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22' },
      ),
      ApiKeyCreate: {
        type: 'object',
        additionalProperties: false,
        required: shape.filter(([, field]) => field.initial === undefined).map(([name]) => name),
        properties: inputs(shape),
        examples: [{ name: example.name, scopes: example.scopes }],
      },
      ApiKeyPatch: {
        type: 'object',
        additionalProperties: false,
        description: 'Fields left out stay as they are.',
        properties: inputs(shape),
        examples: [{ name: 'Search index, staging' }],
      },
    },
  }
}

function collection(example: object): readonly Operation[] {
  return [
    {
      ...operation('get', 'listApiKeys', 'List keys'),
      description: 'Those that have expired are among them.',
      parameters: [...pageParameters, ...createdParameters],
      answers: {
        200: {
          description: 'A page of keys, newest first.',
          schema: pageOf('ApiKey'),
          examples: { page: exampleList(example) },
        },
      },
    },
    {
      ...operation('post', 'createApiKey', 'Make a key'),
      description:
        'A key can grant only scopes that it holds itself. The token is in this answer and nowhere else.',
      body: 'ApiKeyCreate',
      answers: {
        201: {
          description: 'The key with its token.',
          schema: ref('ApiKeyWithToken'),
          headers: ['Location'],
        },
      },
      errors: ['limit_reached'],
      once: true,
    },
  ]
}

function one(): readonly Operation[] {
  return [
    {
      ...operation('get', 'getApiKey', 'Read a key', '/{id}'),
      answers: { 200: { description: 'The key.', schema: ref('ApiKey') } },
      errors: ['not_found'],
    },
    {
      ...operation('patch', 'updateApiKey', 'Change name, scopes or expiry of a key', '/{id}'),
      description: `${touches} Scopes can only become such as the caller holds. A key that has expired stays so.`,
      body: 'ApiKeyPatch',
      answers: { 200: { description: 'The key.', schema: ref('ApiKey') } },
      errors: ['not_found', 'last_managing_key', 'invalid_transition'],
    },
    {
      ...operation('delete', 'deleteApiKey', 'Revoke a key at once', '/{id}'),
      description: `${touches} The endpoints that it registered are disabled in the same commit.`,
      answers: { 204: { description: 'Revoked.' } },
      errors: ['not_found', 'last_managing_key'],
    },
  ]
}

function tokens(): readonly Operation[] {
  return [
    {
      ...operation(
        'post',
        'rotateApiKey',
        'Replace the token; the old one works 24 hours more',
        '/{id}/rotate',
      ),
      description: touches,
      answers: { 200: { description: 'The key with its new token.', schema: ref('ApiKeyWithToken') } },
      errors: ['not_found', 'invalid_transition'],
      once: true,
    },
    {
      ...operation(
        'delete',
        'deletePreviousApiKeyToken',
        'End the overlap: only the newest token works',
        '/{id}/previous-token',
      ),
      description: touches,
      answers: { 204: { description: 'Replaced tokens work no more.' } },
      errors: ['not_found'],
    },
  ]
}

function operation(method: Operation['method'], id: string, summary: string, below = '') {
  return { method, path: `${path}${below}`, id, tag: 'api-keys', summary, access: managingScope } as const
}
