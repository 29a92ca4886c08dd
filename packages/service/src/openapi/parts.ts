/** Pieces that the paths of every resource are put together from. */
import { defaultLimit, maximumLimit } from '../http/list-parameters.ts'
import { type ErrorCode, errorCatalogue } from '../kernel/errors.ts'

type Json = Record<string, unknown>

const always: ErrorCode[] = [
  'unauthorized',
  'key_expired',
  'insufficient_scope',
  'internal_error',
  'unavailable',
]
export const withBody: ErrorCode[] = [
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
  'validation_failed',
]

/** Codes of one status share its entry. */
export function errors(codes: readonly ErrorCode[]): Record<string, Json> {
  const byStatus = Map.groupBy(codes, (code) => String(errorCatalogue[code].status))
  return Object.fromEntries([...byStatus].map(([status, these]) => [status, problems(these)]))
}

/** An operation's answers, and the errors that every operation can give. */
export function withAlways(responses: Json): Json {
  return { ...responses, ...mergeErrors(responses, errors(always)) }
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

export function query(name: string, schema: Json, description: string): Json {
  return { name, in: 'query', description, schema }
}

export function header(name: string, description: string): Json {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

export const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }
export const idempotencyKey = {
  ...header('Idempotency-Key', 'Repeats of this request within 24 hours get its first answer.'),
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

/** The page that a list shows. */
export const pageParameters: readonly Json[] = [
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
]

export function requestBody(schema: string): Json {
  return {
    required: true,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}

export function json(description: string, schema: Json, headers: Json = {}): Json {
  return {
    description,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' }, ...headers },
    content: { 'application/json': { schema } },
  }
}
