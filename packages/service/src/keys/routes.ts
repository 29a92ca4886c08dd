/** The routes of API keys (specification 3.4). All need `api_keys:manage`, except the one for a key's own record. */

import { managingScope } from '../auth/scopes.ts'
import type { Database } from '../db/fair-pool.ts'
import type { Queryable } from '../db/pool.ts'
import { createdBetween, type Page, paging, word } from '../http/list-parameters.ts'
import { pageBody } from '../http/replies.ts'
import { problem } from '../kernel/errors.ts'
import { done, refused } from '../kernel/outcome.ts'
import type { Clock } from '../kernel/timestamps.ts'
import {
  type ApiModule,
  exampleIdentity,
  exampleList,
  exampleTime,
  pageOf,
  ref,
  routesOf,
} from '../openapi/api-module.ts'
import { creationBody, patchBody, recordSchema } from '../openapi/field-schemas.ts'
import { keyFields, keyRecord, tokenField } from './api-key.ts'
import { type Keys, keyShape, noSuchKey } from './keys.ts'
import { countKeys, findKeys, findRevoked, type KeyFilter, revokedKept } from './store.ts'

interface KeyServices {
  readonly keys: Keys
  readonly database: Pick<Database, 'of'>
  readonly clock: Clock
}

const route = routesOf<KeyServices>()
const common = { tag: 'api-keys', access: managingScope } as const
const touches = 'Needs every scope of that key as well.'

export function keyApi(scopes: readonly string[]) {
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

  const listKeys = route({
    ...common,
    method: 'get',
    path: '/v1/api-keys',
    id: 'listApiKeys',
    summary: 'List keys',
    description: 'Those that have expired are among them.',
    query: {
      ...paging,
      ...createdBetween,
      revoked: word(
        ['true', 'false'],
        'With `true`: instead those that were revoked in the last 30 days, the latest first.',
      ),
    },
    answers: {
      200: {
        description: 'A page of keys, newest first.',
        schema: ref('ApiKeyPage'),
        examples: () => ({ page: exampleList(example) }),
      },
    },
    async handle({ database, clock }, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      const { organizationId } = call.caller
      const list = query.value.revoked === 'true' ? listRevoked : listLiving
      const found = await list(database.of(organizationId), organizationId, query.value, clock.now())
      return done(pageBody(found, query.value, (row) => keyRecord(organizationId, row)))
    },
  })

  return {
    tags: [{ name: 'api-keys', description: 'Keys of the organization: scopes, tokens, revocation.' }],
    routes: [listKeys, createKey, readOwnKey, readKey, changeKey, revokeKey, rotateKey, dropPreviousToken],
    schemas() {
      const shape = Object.entries(keyShape(scopes).fields)
      const fields = keyFields(scopes)
      return {
        ApiKey: recordSchema('An API key, without its token.', fields, example),
        ApiKeyPage: pageOf(ref('ApiKey')),
        ApiKeyWithToken: recordSchema(
          'An API key as creation and rotation answer it.',
          { ...fields, token: tokenField },
          { ...example, token: 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22' },
        ),
        ApiKeyCreate: creationBody(shape, { name: example.name, scopes: example.scopes }),
        ApiKeyPatch: patchBody(shape, { name: 'Search index, staging' }),
      }
    },
  } satisfies ApiModule
}

type List = KeyFilter & Page

async function listLiving(db: Queryable, organizationId: string, query: List, now: number) {
  const [rows, total] = await Promise.all([
    findKeys(db, organizationId, query, query, now),
    countKeys(db, organizationId, query),
  ])
  return { rows, total }
}

function listRevoked(db: Queryable, organizationId: string, query: List, now: number) {
  return findRevoked(db, organizationId, query, query, now - revokedKept)
}

const createKey = route({
  ...common,
  method: 'post',
  path: '/v1/api-keys',
  id: 'createApiKey',
  summary: 'Make a key',
  description:
    'A key can grant only scopes that it holds itself. The token is in this answer and nowhere else.',
  body: 'ApiKeyCreate',
  once: true,
  answers: {
    201: {
      description: 'The key with its token.',
      schema: ref('ApiKeyWithToken'),
      headers: ['Location'],
      shownOnce: true,
    },
  },
  errors: ['limit_reached'],
  withhold: ({ keys }, caller, stored) => keys.withhold(caller, 'create', stored),
  handle: ({ keys }, { caller, body, record }) => keys.create(caller, body, record),
})

const readOwnKey = route({
  ...common,
  access: 'any key',
  method: 'get',
  path: '/v1/api-keys/self',
  id: 'getOwnApiKey',
  summary: 'Read the key that makes the call',
  description: 'For programs and pages that offer no more than their key may do.',
  answers: {
    200: { description: 'The key. Its scopes are those of this call.', schema: ref('ApiKey') },
  },
  async handle({ keys }, { caller: { organizationId, apiKeyId, scopes } }) {
    const row = await keys.read(organizationId, apiKeyId)
    // Revoked since the request was authenticated.
    if (row === null)
      return refused(problem('unauthorized', 'This API key has been revoked. Use another one.'))
    return done({ ...keyRecord(organizationId, row), scopes })
  },
})

const readKey = route({
  ...common,
  method: 'get',
  path: '/v1/api-keys/{id}',
  id: 'getApiKey',
  summary: 'Read a key',
  answers: { 200: { description: 'The key.', schema: ref('ApiKey') } },
  errors: ['not_found'],
  async handle({ keys }, { caller: { organizationId }, params }) {
    const row = await keys.read(organizationId, params.id)
    return row === null ? refused(noSuchKey(params.id)) : done(keyRecord(organizationId, row))
  },
})

const changeKey = route({
  ...common,
  method: 'patch',
  path: '/v1/api-keys/{id}',
  id: 'updateApiKey',
  summary: 'Change name, scopes or expiry of a key',
  description: `${touches} Scopes can only become such as the caller holds. A key that has expired stays so.`,
  body: 'ApiKeyPatch',
  answers: { 200: { description: 'The key.', schema: ref('ApiKey') } },
  errors: ['not_found', 'last_managing_key', 'invalid_transition'],
  handle: ({ keys }, { caller, params, body }) => keys.change(caller, params.id, body),
})

const revokeKey = route({
  ...common,
  method: 'delete',
  path: '/v1/api-keys/{id}',
  id: 'deleteApiKey',
  summary: 'Revoke a key at once',
  description: `${touches} The endpoints that it registered are disabled in the same commit.`,
  answers: { 204: { description: 'Revoked.' } },
  errors: ['not_found', 'last_managing_key'],
  handle: ({ keys }, { caller, params }) => keys.remove(caller, params.id),
})

const rotateKey = route({
  ...common,
  method: 'post',
  path: '/v1/api-keys/{id}/rotate',
  id: 'rotateApiKey',
  summary: 'Replace the token; the old one works 24 hours more',
  description: touches,
  once: true,
  answers: {
    200: { description: 'The key with its new token.', schema: ref('ApiKeyWithToken'), shownOnce: true },
  },
  errors: ['not_found', 'invalid_transition'],
  withhold: ({ keys }, caller, stored) => keys.withhold(caller, 'rotate', stored),
  handle: ({ keys }, { caller, params, record }) => keys.rotate(caller, params.id, record),
})

const dropPreviousToken = route({
  ...common,
  method: 'delete',
  path: '/v1/api-keys/{id}/previous-token',
  id: 'deletePreviousApiKeyToken',
  summary: 'End the overlap: only the newest token works',
  description: touches,
  answers: { 204: { description: 'Replaced tokens work no more.' } },
  errors: ['not_found'],
  handle: ({ keys }, { caller, params }) => keys.dropPrevious(caller, params.id),
})
