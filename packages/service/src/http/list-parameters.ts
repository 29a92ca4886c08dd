/** Reads the queries of routes: known names, once each; and the parameters that lists share. */
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { isStorable } from '../kernel/fields/fields.ts'
import { parseId } from '../kernel/ids.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import { formatTimestamp, parseTimestamp } from '../kernel/timestamps.ts'
import type { ReadParameter, Values } from '../openapi/api-module.ts'

const defaultLimit = 20
const maximumLimit = 100

/** Refuses a name that is not `known`, is repeated, or whose text cannot be stored; null when there is none. */
export function unknownParameter(query: URLSearchParams, known: readonly string[]): Problem | null {
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      const accepted = known.length === 0 ? 'none' : known.join(', ')
      return problem('invalid_parameter', `There is no parameter ${name} here; accepted: ${accepted}.`)
    }
    if (query.getAll(name).length > 1) {
      return problem('invalid_parameter', `${name} is given more than once; give it once.`)
    }
    // A cursor has an error of its own.
    if (name !== 'cursor' && !isStorable(query.get(name) ?? ''))
      return problem('invalid_parameter', `${name} must be text without U+0000.`)
  }
  return null
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

const limit: ReadParameter<number> = {
  description: `Rows a page; above ${maximumLimit} is served as ${maximumLimit}.`,
  schema: { type: 'integer', minimum: 1, default: defaultLimit },
  read(text) {
    if (text === null) return ok(defaultLimit)
    const rows = /^\d+$/.test(text) ? Number(text) : 0
    if (rows < 1)
      return invalid(
        `limit must be a whole number from 1 up (above ${maximumLimit} is served as ${maximumLimit}); got ${quoted(text)}.`,
      )
    return ok(Math.min(rows, maximumLimit))
  },
}

const offset: ReadParameter<number> = {
  description: 'Rows to pass over. For browsing only: rows move between pages while data changes.',
  schema: { type: 'integer', minimum: 0, default: 0 },
  read(text) {
    if (text === null) return ok(0)
    if (/^\d{1,15}$/.test(text)) return ok(Number(text))
    return invalid(`offset must be a whole number from 0 up; got ${quoted(text)}.`)
  },
}

export const paging = { limit, offset } as const

export const createdBetween = {
  createdAfter: time('Created later than this, exclusive.'),
  createdBefore: time('Created earlier than this, exclusive.'),
} as const

export function word(words: readonly string[], description: string): ReadParameter<string | null> {
  return {
    description,
    schema: { type: 'string', enum: words },
    read(text, name) {
      if (text === null || words.includes(text)) return ok(text)
      return invalid(`${name} must be one of ${words.join(', ')}; got ${quoted(text)}.`)
    },
  }
}

/** The id of an object that may not exist; `initial` when absent. */
export function anId<Initial extends string | null>(
  description: string,
  initial: Initial,
): ReadParameter<string | Initial> {
  return {
    description,
    schema: { type: 'string', format: 'uuid', ...(initial === null ? {} : { default: initial }) },
    read(text, name) {
      if (text === null) return ok(initial)
      const id = parseId(text)
      return id === null ? invalid(`${name} must be an id, a UUID; got ${quoted(text)}.`) : ok(id)
    },
  }
}

function flag(description: string): ReadParameter<boolean> {
  return {
    description,
    schema: { type: 'boolean', default: false },
    read: (text, name) =>
      text === null || text === 'true' || text === 'false'
        ? ok(text === 'true')
        : invalid(`${name} must be true or false; got ${quoted(text)}.`),
  }
}

/** Of a write: the context of its request has it too (`requestContextOf`). */
export const dryRunnable = {
  dryRun: flag(
    'Decides as the write would, with the same answer or refusal, and changes nothing: no event, no stored response.',
  ),
} as const

export function time(description: string): ReadParameter<string | null> {
  return {
    description,
    schema: { type: 'string', format: 'date-time' },
    read(text, name) {
      if (text === null) return ok(null)
      const at = parseTimestamp(text)
      return at === null ? notTimestamp(name, text) : ok(formatTimestamp(at))
    },
  }
}

/** The values of a query that takes these parameters alone, or its first error. */
export function readQuery<Query extends Readonly<Record<string, ReadParameter<unknown>>>>(
  query: URLSearchParams,
  parameters: Query,
): Result<Values<Query>, Problem> {
  const unknown = unknownParameter(query, Object.keys(parameters))
  if (unknown !== null) return fail(unknown)
  const values: Record<string, unknown> = {}
  for (const [name, { read }] of Object.entries(parameters)) {
    const value = read(query.get(name), name)
    if (!value.ok) return value
    values[name] = value.value
  }
  return ok(values as Values<Query>)
}

export function notTimestamp(name: string, text: string): Result<never, Problem> {
  return invalid(
    `${name} must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z; got ${quoted(text)}. In a query, + is written %2B.`,
  )
}

export function invalid(detail: string): Result<never, Problem> {
  return fail(problem('invalid_parameter', detail))
}
