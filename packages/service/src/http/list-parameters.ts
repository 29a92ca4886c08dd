/** What the queries of all lists have in common: known names, once each, a limit and an offset. */
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { formatTimestamp, parseTimestamp } from '../kernel/timestamps.ts'

export const defaultLimit = 20
export const maximumLimit = 100

/** The problem of a name that is not among `known`, or that is given twice; null when there is none. */
export function unknownParameter(query: URLSearchParams, known: readonly string[]): Problem | null {
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      const accepted = known.length === 0 ? 'none' : known.join(', ')
      return problem('invalid_parameter', `There is no parameter ${name} here; accepted: ${accepted}.`)
    }
    if (query.getAll(name).length > 1) {
      return problem('invalid_parameter', `${name} is given more than once; give it once.`)
    }
  }
  return null
}

/** Rows a page: above the maximum it is served as the maximum (specification 6.2). */
export function parseLimit(query: URLSearchParams): Result<number, Problem> {
  const text = query.get('limit')
  if (text === null) return ok(defaultLimit)
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1) return invalid(`limit must be an integer from 1 to ${maximumLimit}; got ${quoted(text)}.`)
  return ok(Math.min(limit, maximumLimit))
}

/** Rows to pass over. */
export function parseOffset(query: URLSearchParams): Result<number, Problem> {
  const text = query.get('offset') ?? '0'
  if (/^\d{1,15}$/.test(text)) return ok(Number(text))
  return invalid(`offset must be an integer from 0 on; got ${quoted(text)}.`)
}

/** A parameter that is one of a few words, null when it is not given. */
export function parseWord(
  query: URLSearchParams,
  name: string,
  words: readonly string[],
): Result<string | null, Problem> {
  const text = query.get(name)
  if (text === null || words.includes(text)) return ok(text)
  return invalid(`${name} must be one of ${words.join(', ')}; got ${quoted(text)}.`)
}

/** A parameter that is a time, as the wire writes it; null when it is not given. */
export function parseTime(query: URLSearchParams, name: string): Result<string | null, Problem> {
  const text = query.get(name)
  if (text === null) return ok(null)
  const at = parseTimestamp(text)
  return at === null ? notTimestamp(name, text) : ok(formatTimestamp(at))
}

export function notTimestamp(name: string, text: string): Result<never, Problem> {
  return invalid(
    `${name} must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z; got ${quoted(text)}. In a query, + is written %2B.`,
  )
}

export function invalid(detail: string): Result<never, Problem> {
  return fail(problem('invalid_parameter', detail))
}

/** A value as an error shows it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
