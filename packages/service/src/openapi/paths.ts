/** A kind's routes as OpenAPI paths: parameters, bodies, answers and every error each can give. */

import { defaultLimit, maximumLimit } from '../http/list-parameters.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import { errorCatalogue } from '../kernel/errors.ts'
import type { Kind } from '../resource/kind.ts'
import { filterNames } from '../resource/list-query.ts'
import { fieldSchema, schemaName } from './schemas.ts'

type Json = Record<string, unknown>

const always: ErrorCode[] = [
  'unauthorized',
  'key_expired',
  'insufficient_scope',
  'internal_error',
  'unavailable',
]
const withBody: ErrorCode[] = [
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
  'validation_failed',
]

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
      patch: operation(kind, 'update', `Change a ${kind.name}`, {
        parameters: [id, ifMatch],
        requestBody: requestBody(`${name}Patch`),
        responses: {
          '200': object(name),
          ...errors([...withBody, 'not_found', 'duplicate', ...(kind.refusals ?? []), 'version_mismatch']),
        },
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
  }
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
    responses: { ...more.responses, ...mergeErrors(more.responses, errors(always)) },
  }
}

/** Codes of one status share its entry. */
function errors(codes: readonly ErrorCode[]): Record<string, Json> {
  const byStatus = Map.groupBy(codes, (code) => String(errorCatalogue[code].status))
  return Object.fromEntries([...byStatus].map(([status, these]) => [status, problems(these)]))
}

function mergeErrors(existing: Json, added: Record<string, Json>): Json {
  return Object.fromEntries(Object.entries(added).filter(([status]) => !(status in existing)))
}

function problems(codes: readonly ErrorCode[]): Json {
  const [only] = codes
  if (codes.length === 1) return { $ref: `#/components/responses/${only}` }
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join(' '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

function listParameters(kind: Kind): Json[] {
  return [
    query(
      'limit',
      { type: 'integer', minimum: 1, default: defaultLimit },
      `Rows a page; above ${maximumLimit} is served as ${maximumLimit}.`,
    ),
    query(
      'offset',
      { type: 'integer', minimum: 0, default: 0 },
      'For browsing only: rows move between pages while data changes.',
    ),
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
  if (field !== undefined) return fieldSchema({ ...field, nullable: false }, 'input')
  return name.startsWith('created')
    ? { type: 'string', format: 'date-time' }
    : { type: 'string', minLength: 1 }
}

function filterHelp(name: string): string {
  switch (name) {
    case 'tag':
      return 'Has this tag.'
    case 'q':
      return 'Has words that begin with each of these.'
    case 'createdAfter':
      return 'Created later than this, exclusive.'
    case 'createdBefore':
      return 'Created earlier than this, exclusive.'
    default:
      return 'Has this value.'
  }
}

function query(name: string, schema: Json, description: string): Json {
  return { name, in: 'query', description, schema }
}

function header(name: string, description: string): Json {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }
const ifMatch = header('If-Match', 'Change only this version (an ETag); otherwise 412.')
const idempotencyKey = {
  ...header('Idempotency-Key', 'Repeats of this request within 24 hours get its first answer.'),
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function requestBody(schema: string): Json {
  return {
    required: true,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}

function json(description: string, schema: Json, headers: Json = {}): Json {
  return {
    description,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' }, ...headers },
    content: { 'application/json': { schema } },
  }
}

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
