/** The query of a list: browsing with filters, or a sync. Everything unknown or malformed is named. */
import { type Cursor, decodeCursor } from '../kernel/cursor.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { formatTimestamp, parseTimestamp } from '../kernel/timestamps.ts'
import type { Field } from './fields.ts'
import type { Kind } from './kind.ts'
import { searchWords } from './representation.ts'

export const defaultLimit = 20
export const maximumLimit = 100

/** One condition of a browse. */
export type Condition =
  | { readonly on: 'column'; readonly column: string; readonly type: string; readonly value: unknown }
  | { readonly on: 'tag'; readonly tag: string }
  | { readonly on: 'createdAfter' | 'createdBefore'; readonly at: string }
  | { readonly on: 'words'; readonly words: readonly string[] }

export type ListQuery =
  | {
      readonly mode: 'browse'
      readonly limit: number
      readonly offset: number
      readonly conditions: readonly Condition[]
    }
  | { readonly mode: 'sync'; readonly limit: number; readonly updatedAfter: number }
  | { readonly mode: 'sync'; readonly limit: number; readonly cursor: Cursor }

const pagingParameters = ['limit', 'offset', 'updatedAfter', 'cursor']

/** The filters that a list of this kind takes, by parameter name. */
export function filterNames(kind: Kind): string[] {
  const fields = kind.fieldNames.filter((name) => kind.fields[name]?.filter)
  const tag = 'tags' in kind.fields ? ['tag'] : []
  const q = kind.fieldNames.some((name) => kind.fields[name]?.search) ? ['q'] : []
  return [...fields, ...tag, 'createdAfter', 'createdBefore', ...q]
}

/** What a list request asks for (specification, section 4.3; decisions, sections 5 and 6). */
export function parseListQuery(
  kind: Kind,
  organizationId: string,
  query: URLSearchParams,
): Result<ListQuery, Problem> {
  const known = [...pagingParameters, ...filterNames(kind)]
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      return invalid(`There is no parameter ${name} here; accepted: ${known.join(', ')}.`)
    }
    if (query.getAll(name).length > 1) return invalid(`${name} is given more than once; give it once.`)
  }
  const limit = parseLimit(query.get('limit'))
  if (!limit.ok) return limit
  const isSync = query.has('cursor') || query.has('updatedAfter')
  return isSync ? parseSync(kind, organizationId, query, limit.value) : parseBrowse(kind, query, limit.value)
}

function parseLimit(text: string | null): Result<number, Problem> {
  if (text === null) return ok(defaultLimit)
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1) return invalid(`limit must be an integer from 1 to ${maximumLimit}; got ${quoted(text)}.`)
  return ok(Math.min(limit, maximumLimit))
}

function parseSync(
  kind: Kind,
  organizationId: string,
  query: URLSearchParams,
  limit: number,
): Result<ListQuery, Problem> {
  const refused = [...query.keys()].filter((name) => !['limit', 'cursor', 'updatedAfter'].includes(name))
  if (refused.length > 0) {
    const detail = `A sync takes limit, updatedAfter and cursor only; leave out ${refused.join(', ')}, or browse without a sync parameter.`
    return fail(problem('filter_not_allowed_in_sync', detail))
  }
  const cursorText = query.get('cursor')
  if (cursorText !== null) {
    const cursor = decodeCursor(cursorText, kind.name, organizationId)
    if (cursor !== null) return ok({ mode: 'sync', limit, cursor })
    const detail = `The cursor is not one of this list. Send the nextCursor of GET /v1/${kind.plural} unchanged, with a key of the same organization.`
    return fail(problem('invalid_cursor', detail))
  }
  const text = query.get('updatedAfter') ?? ''
  const updatedAfter = parseTimestamp(text)
  if (updatedAfter === null) return notTimestamp('updatedAfter', text)
  return ok({ mode: 'sync', limit, updatedAfter })
}

function parseBrowse(kind: Kind, query: URLSearchParams, limit: number): Result<ListQuery, Problem> {
  const offsetText = query.get('offset') ?? '0'
  if (!/^\d{1,15}$/.test(offsetText)) {
    return invalid(`offset must be an integer from 0 on; got ${quoted(offsetText)}.`)
  }
  const conditions: Condition[] = []
  for (const name of filterNames(kind)) {
    const text = query.get(name)
    if (text === null) continue
    const condition = parseCondition(kind, name, text)
    if (!condition.ok) return condition
    conditions.push(condition.value)
  }
  return ok({ mode: 'browse', limit, offset: Number(offsetText), conditions })
}

function parseCondition(kind: Kind, name: string, text: string): Result<Condition, Problem> {
  switch (name) {
    case 'createdAfter':
    case 'createdBefore': {
      const at = parseTimestamp(text)
      return at === null ? notTimestamp(name, text) : ok({ on: name, at: formatTimestamp(at) })
    }
    case 'tag':
      return text === '' || text.includes('\u0000')
        ? invalid('tag must be a tag, 1 to 50 characters.')
        : ok({ on: 'tag', tag: text })
    case 'q': {
      const words = searchWords(text.slice(0, 500))
      if (words.length === 0) return invalid('q must have at least one letter or digit.')
      return ok({ on: 'words', words })
    }
    default: {
      const field = kind.fields[name] as Field
      const parsed = field.schema.safeParse(filterValue(field, text))
      if (!parsed.success || field.column === null) {
        return invalid(`${name} must be ${field.accepts}; got ${quoted(text)}.`)
      }
      return ok({ on: 'column', column: field.column.name, type: field.column.type, value: parsed.data })
    }
  }
}

/** A query is text; what a field accepts may not be. What stays text is then refused by the field. */
function filterValue(field: Field, text: string): unknown {
  switch (field.column?.type) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'bigint':
      return /^-?\d{1,16}$/.test(text) ? Number(text) : text
    default:
      return text
  }
}

function notTimestamp(name: string, text: string): Result<never, Problem> {
  return invalid(
    `${name} must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z; got ${quoted(text)}. In a query, + is written %2B.`,
  )
}

function invalid(detail: string): Result<never, Problem> {
  return fail(problem('invalid_parameter', detail))
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
