/** A kind's routes as OpenAPI paths: parameters, bodies, answers and every error each can give. */

import type { Kind } from '../resource/kind.ts'
import { filterNames, rangeParameters, filterSchema as shownSchema } from '../resource/list-query.ts'
import {
  errors,
  header,
  id,
  idempotencyKey,
  json,
  pageParameters,
  query,
  requestBody,
  withAlways,
  withBody,
} from './parts.ts'
import { fieldSchema, schemaName } from './schemas.ts'

type Json = Record<string, unknown>

export function kindPaths(kind: Kind): Json {
  const name = schemaName(kind)
  const path = `/v1/${kind.plural}`
  const one = `${path}/{id}`
  return {
    [path]: {
      get: operation(kind, 'list', `List or sync ${kind.plural}`, {
        description: `Without a sync parameter: existing rows, newest first, by filter. With \`updatedAfter\` or \`cursor\`: created, changed and removed rows in one order.`,
        parameters: listParameters(kind),
        responses: {
          '200': json(`A page of ${kind.plural}`, listSchema(name)),
          ...errors(['invalid_parameter', 'invalid_cursor', 'filter_not_allowed_in_sync', 'cursor_too_old']),
        },
      }),
      post: operation(kind, 'create', `Create a ${kind.name}`, {
        parameters: [idempotencyKey],
        requestBody: requestBody(`${name}Create`),
        responses: {
          '201': object(name, { Location: { schema: { type: 'string' } } }),
          ...errors([...withBody, 'invalid_parameter', 'duplicate', 'idempotency_key_reused', 'not_found']),
        },
      }),
    },
    [one]: {
      get: operation(kind, 'get', `Read a ${kind.name}`, {
        parameters: [id, header('If-None-Match', 'Answer 304 when this is still the version.')],
        responses: {
          '200': object(name),
          '304': { description: 'Not changed.' },
          ...errors(['not_found']),
        },
      }),
      ...(kind.immutable
        ? {}
        : {
            patch: operation(kind, 'update', `Change a ${kind.name}`, {
              parameters: [id, ifMatch],
              requestBody: requestBody(`${name}Patch`),
              responses: {
                '200': object(name),
                ...errors([
                  ...withBody,
                  'not_found',
                  'duplicate',
                  ...(kind.refusals ?? []),
                  'version_mismatch',
                ]),
              },
            }),
          }),
      ...(kind.removedEvent === null
        ? {}
        : {
            delete: operation(kind, 'delete', `Delete a ${kind.name}`, {
              parameters: [id, ifMatch],
              responses: { '204': { description: 'Deleted.' }, ...errors(['not_found', 'version_mismatch']) },
            }),
          }),
    },
    ...Object.fromEntries(
      Object.keys(kind.actions).map((action) => [
        `${one}/${action}`,
        { post: actionOperation(kind, action) },
      ]),
    ),
  }
}

function actionOperation(kind: Kind, action: string): Json {
  const name = schemaName(kind)
  const { description, fields } = kind.actions[action] as Kind['actions'][string]
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(fields).filter((field) => fields[field]?.initial === undefined),
    properties: Object.fromEntries(
      Object.entries(fields).map(([field, spec]) => [field, fieldSchema(spec, 'input')]),
    ),
  }
  return operation(kind, camelCase(action), description, {
    parameters: [id, ifMatch, idempotencyKey],
    requestBody: { required: schema.required.length > 0, content: { 'application/json': { schema } } },
    responses: {
      '200': object(name),
      ...errors([
        ...withBody,
        'invalid_parameter',
        'not_found',
        'invalid_transition',
        'version_mismatch',
        'idempotency_key_reused',
      ]),
    },
  })
}

/** `no-show` → `noShow`. */
export function camelCase(words: string): string {
  return words.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function operation(kind: Kind, verb: string, summary: string, more: Json & { responses: Json }): Json {
  const many = verb === 'list' ? kind.plural : kind.name
  const scope = `${kind.plural}:${verb === 'list' || verb === 'get' ? 'read' : 'write'}`
  return {
    operationId: `${verb}${many[0]?.toUpperCase()}${many.slice(1)}`,
    tags: [kind.plural],
    summary,
    'x-scope': scope,
    ...more,
    responses: withAlways(more.responses),
  }
}

function listParameters(kind: Kind): Json[] {
  return [
    ...pageParameters,
    query(
      'updatedAfter',
      { type: 'string', format: 'date-time' },
      'Starts a sync from a watermark, exclusive.',
    ),
    query('cursor', { type: 'string' }, 'The nextCursor of the previous page; continues a sync.'),
    ...filterNames(kind).map((name) => query(name, filterSchema(kind, name), filterHelp(name))),
  ]
}

function filterSchema(kind: Kind, name: string): Json {
  const field = kind.fields[name]
  if (field !== undefined)
    return fieldSchema({ ...field, schema: shownSchema(field), nullable: false }, 'input')
  return name in rangeParameters(kind)
    ? { type: 'string', format: 'date-time' }
    : { type: 'string', minLength: 1 }
}

function filterHelp(name: string): string {
  switch (name) {
    case 'tag':
      return 'Has this tag.'
    case 'q':
      return 'Has words that begin with each of these.'
    default:
      if (name.endsWith('After')) return 'Later than this, exclusive.'
      return name.endsWith('Before') ? 'Earlier than this, exclusive.' : 'Has this value.'
  }
}
const ifMatch = header('If-Match', 'Change only this version (an ETag); otherwise 412.')

function object(name: string, headers: Json = {}): Json {
  const schema = { $ref: `#/components/schemas/${name}` }
  return json(`The ${name}`, schema, { ETag: { $ref: '#/components/headers/ETag' }, ...headers })
}

function listSchema(name: string): Json {
  const records = ['Removed', name].map((schema) => ({ $ref: `#/components/schemas/${schema}` }))
  return {
    type: 'object',
    required: ['data', 'pagination'],
    properties: {
      data: { type: 'array', items: { anyOf: records } },
      pagination: { $ref: '#/components/schemas/Pagination' },
    },
  }
}
