/** Error responses in the document: which operations have them, and examples. */
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type ErrorCode, errorPath, exampleProblem } from '../kernel/errors.ts'
import { exampleId, exampleTime, type Json, type Route, refusesParameters } from './api-module.ts'

const text = (description: string, example: string): Json => ({
  description,
  schema: { type: 'string', examples: [example] },
})

export const headerComponents: Readonly<Record<string, Json>> = {
  'X-Request-Id': text(
    'The id of this request: the one that was sent, or one that was made. Logs and problems have it.',
    'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d',
  ),
  ETag: text(
    "The object's version: its `updatedAt` in quotes. For If-Match and If-None-Match.",
    `"${exampleTime}"`,
  ),
  Location: text('The path of the new object.', `/v1/webhooks/${exampleId(3)}`),
  'Idempotent-Replayed': text(
    'There, and `true`, when this is the stored response to an earlier request with the same Idempotency-Key.',
    'true',
  ),
  'Cache-Control': text(
    'How the answer may be kept. Below `/v1`: `private, no-cache`, or `no-store` where it holds a token or a secret.',
    'private, no-cache',
  ),
  'WWW-Authenticate': text('How to authenticate.', 'Bearer realm="deskwire"'),
  'RateLimit-Policy': text(
    'How often the key may call: `q` requests at once, which come back within `w` seconds. Not there where nothing is limited.',
    '"default";q=500;w=5',
  ),
  RateLimit: text(
    'The rest of the limit: `r` requests now, and all of them in `t` seconds.',
    '"default";r=499;t=1',
  ),
  'Retry-After': text('In how many seconds to send it again.', '1'),
}

const limitHeaders = ['RateLimit-Policy', 'RateLimit']

export const answerHeaders = ['Cache-Control', ...limitHeaders]

const codes = Object.keys(errorCatalogue) as readonly ErrorCode[]

const problemType = 'application/problem+json'
const problemSchema = { $ref: '#/components/schemas/Problem' }

const refusalHeaders: Readonly<Record<string, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', ...limitHeaders],
  503: ['Retry-After'],
}

/** Includes those that follow from the declaration. */
export function refusalsOf(operation: Route): readonly ErrorCode[] {
  const { method, path, access, body, once, errors } = operation
  const possible: readonly ErrorCode[] = [
    ...(errors ?? []),
    'rate_limited',
    // A key of a suspended organization gets 403.
    ...(access === 'public' ? [] : (['unauthorized', 'key_expired', 'insufficient_scope'] as const)),
    // A path may contain invalid UTF-8.
    ...(refusesParameters(operation) || path.includes('{') ? (['invalid_parameter'] as const) : []),
    // A body is parsed even when none is expected.
    ...(method === 'get' ? [] : (['malformed_json', 'body_too_large', 'unsupported_media_type'] as const)),
    ...(body === undefined ? [] : (['validation_failed'] as const)),
    // The object of a stored response may have been removed, and the response erased with it.
    ...(once ? (['invalid_parameter', 'idempotency_key_reused', 'not_found', 'limit_reached'] as const) : []),
    ...(access === 'public' ? [] : (['internal_error', 'unavailable'] as const)),
  ]
  return codes.filter((code) => possible.includes(code))
}

/** Codes with one status share an entry. */
export function refusalResponses(operation: Route): Record<string, Json> {
  return Object.fromEntries(
    [...refusalsByStatus(operation)].map(([status, these]) => [status, response(status, these)]),
  )
}

/** For each code that is the only one with its status in some operation. */
export function refusalComponents(operations: readonly Route[]): Json {
  const alone = operations
    .flatMap((operation) => [...refusalsByStatus(operation).values()])
    .flatMap((these) => (these.length === 1 ? these : []))
  return Object.fromEntries(
    codes
      .filter((code) => alone.includes(code))
      .map((code) => [code, inline(String(errorCatalogue[code].status), [code])]),
  )
}

function refusalsByStatus(operation: Route): ReadonlyMap<string, readonly ErrorCode[]> {
  return Map.groupBy(refusalsOf(operation), (code) => String(errorCatalogue[code].status))
}

/** A complete example for each code of these operations. */
export function problemExamples(operations: readonly Route[]): Json {
  const possible = new Set(operations.flatMap(refusalsOf))
  return Object.fromEntries(
    codes
      .filter((code) => possible.has(code))
      .map((code) => [code, { summary: errorCatalogue[code].title, value: exampleProblem(code) }]),
  )
}

function response(status: string, these: readonly ErrorCode[]): Json {
  const [only] = these
  return these.length === 1 ? { $ref: `#/components/responses/${only}` } : inline(status, these)
}

function inline(status: string, these: readonly ErrorCode[]): Json {
  const lines = these.map((code) => {
    const { title, help } = errorCatalogue[code]
    return `[\`${code}\`](${errorPath(code)}): ${title}. ${help}`
  })
  return {
    description: lines.join('\n\n'),
    headers: headersOf(refusalHeaders[status] ?? []),
    content: {
      [problemType]: {
        schema: problemSchema,
        examples: Object.fromEntries(these.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

/** Includes those of every response. */
export function headersOf(names: readonly string[]): Json {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}
