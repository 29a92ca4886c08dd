/** The query of a list: browsing with filters, or a sync. Everything unknown or malformed is named. */
import type { z } from 'zod'
import {
  invalid,
  notTimestamp,
  parseLimit,
  parseOffset,
  quoted,
  unknownParameter,
} from '../http/list-parameters.ts'
import { decodeCursor } from '../kernel/cursor.ts'
import type { Problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { formatTimestamp, parseTimestamp } from '../kernel/timestamps.ts'
import type { Field } from './field.ts'
import type { Kind } from './kind.ts'
import { mostSearchWords, neededWords, searchWords } from './search.ts'
import { isSync, parseSync, type SyncQuery } from './sync-query.ts'

/** One condition of a browse. */
export type Condition =
  | { readonly on: 'column'; readonly column: string; readonly type: string; readonly value: unknown }
  | { readonly on: 'tag'; readonly tag: string }
  /** Both exclusive. */
  | { readonly on: 'after' | 'before'; readonly column: string; readonly at: string }
  /** Each begins a word of the row. */
  | { readonly on: 'words'; readonly words: readonly string[] }

export type ListQuery =
  | {
      readonly mode: 'browse'
      readonly limit: number
      readonly offset: number
      readonly conditions: readonly Condition[]
    }
  | SyncQuery

const pagingParameters = ['limit', 'offset', 'updatedAfter', 'cursor', 'wait']

/** The filters that a list of this kind takes, by parameter name. */
export function filterNames(kind: Kind): string[] {
  const fields = kind.fieldNames.filter((name) => kind.fields[name]?.filter)
  const ranges = Object.keys(rangeParameters(kind))
  const tag = 'tags' in kind.fields ? ['tag'] : []
  const q = kind.fieldNames.some((name) => kind.fields[name]?.search) ? ['q'] : []
  return [...fields, ...tag, ...ranges, ...q]
}

/** The parameters that hold a time of the rows against a bound, and the column that each is about. */
export function rangeParameters(
  kind: Kind,
): Readonly<Record<string, { readonly on: 'after' | 'before'; readonly column: string }>> {
  const parameters: Record<string, { on: 'after' | 'before'; column: string }> = {
    createdAfter: { on: 'after', column: 'created_at' },
    createdBefore: { on: 'before', column: 'created_at' },
  }
  for (const { range, column } of Object.values(kind.fields)) {
    if (range === null || column === null) continue
    parameters[range.after] = { on: 'after', column: column.name }
    parameters[range.before] = { on: 'before', column: column.name }
  }
  return parameters
}

/** What a list request asks for (specification 6, specification 7). */
export function parseListQuery(
  kind: Kind,
  organizationId: string,
  query: URLSearchParams,
): Result<ListQuery, Problem> {
  const known = [...pagingParameters, ...filterNames(kind)]
  const unknown = unknownParameter(query, known)
  if (unknown !== null) return fail(unknown)
  if (isSync(query)) {
    const path = `/v1/${kind.plural}`
    return parseSync(query, path, (text) => decodeCursor(text, kind.name, organizationId))
  }
  if (query.has('wait'))
    return invalid('wait goes with updatedAfter or cursor: send one of them, or leave it out.')
  const limit = parseLimit(query)
  return limit.ok ? parseBrowse(kind, query, limit.value) : limit
}

function parseBrowse(kind: Kind, query: URLSearchParams, limit: number): Result<ListQuery, Problem> {
  const offset = parseOffset(query)
  if (!offset.ok) return offset
  const conditions: Condition[] = []
  for (const name of filterNames(kind)) {
    const text = query.get(name)
    if (text === null) continue
    const condition = parseCondition(kind, name, text)
    if (!condition.ok) return condition
    conditions.push(condition.value)
  }
  return ok({ mode: 'browse', limit, offset: offset.value, conditions })
}

function parseCondition(kind: Kind, name: string, text: string): Result<Condition, Problem> {
  const range = rangeParameters(kind)[name]
  if (range !== undefined) {
    const at = parseTimestamp(text)
    return at === null ? notTimestamp(name, text) : ok({ ...range, at: formatTimestamp(at) })
  }
  switch (name) {
    case 'tag':
      return text === '' || text.includes('\u0000')
        ? invalid('tag must be a tag, 1 to 50 characters.')
        : ok({ on: 'tag', tag: text })
    case 'q': {
      const words = neededWords(searchWords(text))
      if (words.length === 0) return invalid('q must have at least one letter or digit.')
      if (words.length > mostSearchWords) {
        return invalid(
          `q must have at most ${mostSearchWords} words, repeats and beginnings of its other words not counted; got ${words.length}.`,
        )
      }
      return ok({ on: 'words', words })
    }
    default: {
      const field = kind.fields[name] as Field
      const parsed = filterSchema(field).safeParse(filterValue(field, text))
      if (!parsed.success || field.column === null) {
        return invalid(`${name} must be ${field.accepts}; got ${quoted(text)}.`)
      }
      return ok({ on: 'column', column: field.column.name, type: field.column.type, value: parsed.data })
    }
  }
}

/** What a filter takes: whatever the field may show, except null. */
export function filterSchema({ schema, shown, reference }: Field): z.ZodType {
  // An id comes in any case, and is looked for as it is stored.
  return reference === null && shown !== undefined ? shown : schema
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
