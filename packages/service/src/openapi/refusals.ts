/** Refusals as the document shows them: which an operation can give, and what each looks like. */
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type ErrorCode, errorPath, exampleProblem } from '../kernel/errors.ts'
import type { Json, Operation } from './api-module.ts'
import { headersOf, limitHeaders } from './headers.ts'

const codes = Object.keys(errorCatalogue) as readonly ErrorCode[]

const problemType = 'application/problem+json'
const problemSchema = { $ref: '#/components/schemas/Problem' }

/** Headers that refusals of a status have. */
const refusalHeaders: Readonly<Record<string, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', ...limitHeaders],
  503: ['Retry-After'],
}

/** Every code that the operation can refuse with, those that follow from its declaration included. */
export function refusalsOf(operation: Operation): readonly ErrorCode[] {
  const { method, path, access, body, once, query, errors } = operation
  const possible: readonly ErrorCode[] = [
    ...(errors ?? []),
    'rate_limited',
    // Any key of a suspended organization is refused as one that may do nothing.
    ...(access === 'public' ? [] : (['unauthorized', 'key_expired', 'insufficient_scope'] as const)),
    // What stands in a path may be no UTF-8.
    ...(query !== undefined || path.includes('{') ? (['invalid_parameter'] as const) : []),
    // A body that comes is read, also where none is asked for.
    ...(method === 'get' ? [] : (['malformed_json', 'body_too_large', 'unsupported_media_type'] as const)),
    ...(body === undefined ? [] : (['validation_failed'] as const)),
    // The object that a stored response tells of can have been removed since, and the answer erased with it. Another may not fit.
    ...(once ? (['invalid_parameter', 'idempotency_key_reused', 'not_found', 'limit_reached'] as const) : []),
    ...(access === 'public' ? [] : (['internal_error', 'unavailable'] as const)),
  ]
  return codes.filter((code) => possible.includes(code))
}

/** Answers by status: codes of one status share its entry. */
export function refusalResponses(operation: Operation): Record<string, Json> {
  return Object.fromEntries(
    [...refusalsByStatus(operation)].map(([status, these]) => [status, response(status, these)]),
  )
}

/** A response for each code that is the only one of its status somewhere: those operations share it. */
export function refusalComponents(operations: readonly Operation[]): Json {
  const alone = operations
    .flatMap((operation) => [...refusalsByStatus(operation).values()])
    .flatMap((these) => (these.length === 1 ? these : []))
  return Object.fromEntries(
    codes
      .filter((code) => alone.includes(code))
      .map((code) => [code, inline(String(errorCatalogue[code].status), [code])]),
  )
}

function refusalsByStatus(operation: Operation): ReadonlyMap<string, readonly ErrorCode[]> {
  return Map.groupBy(refusalsOf(operation), (code) => String(errorCatalogue[code].status))
}

/** A whole problem for each code that one of these can refuse with. */
export function problemExamples(operations: readonly Operation[]): Json {
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
