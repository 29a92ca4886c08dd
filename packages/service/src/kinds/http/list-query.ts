/** The query of a list: a browse with filters, or a sync. */
import { numberFault, readJson } from '@deskwire/sdk/json'
import type { Caller } from '../../auth/authenticator.ts'
import { grants } from '../../auth/scopes.ts'
import {
  anId,
  createdBetween,
  invalid,
  notTimestamp,
  paging,
  unknownParameter,
} from '../../http/list-parameters.ts'
import { decodeCursor } from '../../kernel/cursor.ts'
import { type Problem, quoted } from '../../kernel/errors.ts'
import type { Column, Field } from '../../kernel/fields/field.ts'
import { parseId } from '../../kernel/ids.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { madeOnce } from '../../kernel/shared-work.ts'
import { type Clock, formatTimestamp, parseTimestamp } from '../../kernel/timestamps.ts'
import type { QueryParameter, QueryParameters } from '../../openapi/api-module.ts'
import { fieldSchema } from '../../openapi/field-schemas.ts'
import { tag } from '../model/common-fields.ts'
import type { FoundBy, Kind } from '../model/kind.ts'
import {
  attributeTerm,
  maxSearchWords,
  neededWords,
  type Sought,
  searchWords,
  soughtIn,
  tagTerm,
} from '../model/search.ts'
import { isSync, parseSync, type SyncQuery, syncParameters } from './sync.ts'

export type Condition =
  | { readonly on: 'column'; readonly column: string; readonly type: string; readonly value: unknown }
  | { readonly on: 'null'; readonly column: string }
  | { readonly on: 'ids'; readonly ids: readonly string[] }
  /** A term of the search document. */
  | { readonly on: 'term'; readonly term: string }
  /** Exclusive. */
  | { readonly on: 'after' | 'before'; readonly column: string; readonly at: string }
  /** A filter that compares with this time. */
  | { readonly on: 'time'; readonly at: string; readonly holds: (table: string, now: string) => string }
  /** Words of the search document, or of one of another kind. */
  | { readonly on: 'words'; readonly sought: Sought; readonly foundBy: readonly FoundBy[] }

export type ListQuery =
  | {
      readonly mode: 'browse'
      readonly limit: number
      readonly offset: number
      /** The row that the page follows; null: the page begins at `offset`. */
      readonly after: string | null
      readonly conditions: readonly Condition[]
    }
  | SyncQuery

const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

interface Filter extends QueryParameter {
  readonly condition: (text: string, now: string, scopes: readonly string[]) => Result<Condition, Problem>
}

/** The filters of a kind's list, by parameter. */
export const filtersOf: (kind: Kind) => Readonly<Record<string, Filter>> = madeOnce((kind) => {
  const filters: Record<string, Filter> = {}
  for (const name of kind.fieldNames) {
    const field = kind.fields[name] as Field
    if (field.filter && field.column !== null) filters[name] = fieldFilter(name, field, field.column)
  }
  if ('tags' in kind.fields) filters.tag = tagFilter
  if ('customAttributes' in kind.fields) filters.customAttribute = attributeFilter
  const { createdAfter, createdBefore } = createdBetween
  filters.createdAfter = timeFilter('createdAfter', 'after', 'created_at', createdAfter.description)
  filters.createdBefore = timeFilter('createdBefore', 'before', 'created_at', createdBefore.description)
  for (const [name, { range, column }] of Object.entries(kind.fields)) {
    if (range === null) continue
    const place = column?.name ?? { field: name }
    const is = (than: string) => `Has a ${name} ${than} than this.`
    filters[range.after] = timeFilter(range.after, 'after', place, is('later'))
    filters[range.before] = timeFilter(range.before, 'before', place, is('earlier'))
  }
  for (const [name, filter] of Object.entries(kind.filters ?? {})) filters[name] = ofTime(name, filter)
  if (kind.fieldNames.some((name) => kind.fields[name]?.search)) filters.q = wordsFilter(kind)
  return filters
})

function fieldFilter(name: string, field: Field, column: Column): Filter {
  // Ids are stored in lower case.
  const schema = field.reference === null && field.shown !== undefined ? field.shown : field.schema
  const hasNone = field.filter === 'or none'
  const one = fieldSchema({ ...field, schema, nullable: false }, 'input')
  return {
    description: hasNone ? `Has this ${name}; \`null\`: has none.` : `Has this ${name}.`,
    schema: hasNone ? { type: 'string', pattern: `^(${uuid}|null)$` } : one,
    condition(text) {
      if (hasNone && text === 'null') return ok({ on: 'null', column: column.name })
      const parsed = schema.safeParse(filterValue(column, text))
      if (!parsed.success) return invalid(`${name} must be ${field.accepts}; got ${quoted(text)}.`)
      return ok({ on: 'column', column: column.name, type: column.type, value: parsed.data })
    },
  }
}

/** A query is text; the field refuses text that is no value of its type. */
function filterValue({ type }: Column, text: string): unknown {
  switch (type) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'bigint':
      return /^-?\d{1,16}$/.test(text) ? Number(text) : text
    default:
      return text
  }
}

/** Exclusive. A field without a column is compared as the text in the representation, which sorts by time. */
function timeFilter(
  name: string,
  on: 'after' | 'before',
  place: string | { readonly field: string },
  description: string,
): Filter {
  return {
    description,
    schema: { type: 'string', format: 'date-time' },
    condition(text) {
      const at = parseTimestamp(text)
      if (at === null) return notTimestamp(name, text)
      if (typeof place === 'string') return ok({ on, column: place, at: formatTimestamp(at) })
      const comparison = on === 'after' ? '>' : '<'
      return ok({
        on: 'time',
        at: formatTimestamp(at),
        holds: (table, time) =>
          `(${table}.body::json ->> '${place.field}') collate "C" ${comparison} ${time}`,
      })
    },
  }
}

function ofTime(name: string, { description, holds }: NonNullable<Kind['filters']>[string]): Filter {
  return {
    description: `With \`true\`: ${description.charAt(0).toLowerCase()}${description.slice(1)}`,
    schema: { type: 'string', enum: ['true'] },
    condition: (text, now) =>
      text === 'true'
        ? ok({ on: 'time', at: now, holds })
        : invalid(`${name} must be true, or left out; got ${quoted(text)}.`),
  }
}

const tagFilter: Filter = {
  description: 'Has this tag.',
  schema: { type: 'string', minLength: 1, maxLength: 50 },
  condition: (text) =>
    tag.safeParse(text).success
      ? ok({ on: 'term', term: tagTerm(text) })
      : invalid(`tag must be a string of 1 to 50 characters; got ${quoted(text)}.`),
}

const attributeFilter: Filter = {
  description:
    'Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\\:` is a colon and `\\\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text.',
  schema: { type: 'string', pattern: ':' },
  condition(text) {
    const [, written, value = ''] = /^((?:[^\\:]|\\[\\:])+):(.*)$/s.exec(text) ?? []
    if (written === undefined)
      return invalid(
        `customAttribute must be a name, a colon and a value, with \\ before each : and \\ of the name; got ${quoted(text)}.`,
      )
    const scalar = scalarOf(value)
    const fault = typeof scalar === 'number' ? numberFault(value) : null
    if (fault !== null)
      return invalid(`customAttribute: its value ${fault}. Text is written in quotes, as in id:"123".`)
    return ok({ on: 'term', term: attributeTerm(written.replaceAll(/\\(.)/g, '$1'), scalar) })
  },
}

/** The JSON string, number or boolean that a text is; a text that is none is itself. */
function scalarOf(text: string): string | number | boolean {
  if (!/^(?:[-\d].*\d|\d|".*"|true|false)$/s.test(text)) return text
  try {
    return readJson(text)
  } catch {
    return text
  }
}

function wordsFilter({ foundBy = [] }: Kind): Filter {
  return {
    description: `${['It', ...foundBy.map(({ phrase }) => phrase)].join(', or ')} has words that begin with each of these, at most ${maxSearchWords}, whatever their case and accents. A search that takes longer than a few seconds is ended: 503.`,
    schema: { type: 'string', minLength: 1 },
    condition(text, _now, scopes) {
      const words = neededWords(searchWords(text))
      if (words.length === 0) return invalid('q must have at least one letter or digit.')
      if (words.length > maxSearchWords)
        return invalid(
          `q must have at most ${maxSearchWords} words, repeats and beginnings of its other words not counted; got ${words.length}.`,
        )
      // Whether a row is found shows what the other object says.
      const readable = foundBy.filter(({ plural }) => grants(scopes, `${plural}:read`))
      return ok({ on: 'words', sought: soughtIn(text), foundBy: readable })
    },
  }
}

/** As many as a page has. */
const maxIds = 100

/** Not a filter: all objects that it names are in one page. */
const ids = {
  description: `Reads the rows with these ids, at most ${maxIds}, separated by commas; those that do not exist are left out. It goes with no other parameter.`,
  schema: { type: 'string', pattern: `^${uuid}(,${uuid}){0,${maxIds - 1}}$` },
  read(query: URLSearchParams): Result<ListQuery, Problem> {
    const others = [...query.keys()].filter((name) => name !== 'ids')
    if (others.length > 0) return invalid(`ids goes with no other parameter; leave out ${others.join(', ')}.`)
    const texts = (query.get('ids') ?? '').split(',')
    if (texts.length > maxIds)
      return invalid(`ids must be at most ${maxIds} ids; got ${texts.length}. Send the rest in another call.`)
    const found: string[] = []
    for (const text of texts) {
      const id = parseId(text)
      if (id === null) return invalid(`ids must be ids, UUIDs separated by commas; got ${quoted(text)}.`)
      found.push(id)
    }
    return ok({
      mode: 'browse',
      limit: maxIds,
      offset: 0,
      after: null,
      conditions: [{ on: 'ids', ids: found }],
    })
  },
} as const

const after = anId(
  'The rows that come after the one with this id in the order of the list, whether or not that one still matches. It replaces offset: a row that matches all the while is on exactly one page.',
  null,
)

export function filterNames(kind: Kind): string[] {
  return Object.keys(filtersOf(kind))
}

export const listParameters: (kind: Kind) => QueryParameters = madeOnce((kind) => {
  const { description, schema } = ids
  return { ...paging, after, ...syncParameters, ids: { description, schema }, ...filtersOf(kind) }
})

export function parseListQuery(
  kind: Kind,
  { organizationId, scopes }: Pick<Caller, 'organizationId' | 'scopes'>,
  query: URLSearchParams,
  clock: Clock,
): Result<ListQuery, Problem> {
  const unknown = unknownParameter(query, Object.keys(listParameters(kind)))
  if (unknown !== null) return fail(unknown)
  if (isSync(query)) {
    const path = `/v1/${kind.plural}`
    return parseSync(query, path, (text) => decodeCursor(text, kind.name, organizationId))
  }
  if (query.has('wait'))
    return invalid('wait goes with updatedAfter or cursor: send one of them, or leave it out.')
  if (query.has('ids')) return ids.read(query)
  const limit = paging.limit.read(query.get('limit'), 'limit')
  if (!limit.ok) return limit
  const offset = paging.offset.read(query.get('offset'), 'offset')
  if (!offset.ok) return offset
  const following = after.read(query.get('after'), 'after')
  if (!following.ok) return following
  if (following.value !== null && offset.value > 0)
    return invalid('after replaces offset: send one of them, or an offset of 0.')
  const conditions = readConditions(kind, query, formatTimestamp(clock.now()), scopes)
  if (!conditions.ok) return conditions
  const page = { limit: limit.value, offset: offset.value, after: following.value }
  return ok({ mode: 'browse', ...page, conditions: conditions.value })
}

/** The filters of a kind's list in a query, whatever else it has, at `now`, for a key with these scopes. */
export function readConditions(
  kind: Kind,
  query: URLSearchParams,
  now: string,
  scopes: readonly string[],
): Result<readonly Condition[], Problem> {
  const conditions: Condition[] = []
  for (const [name, filter] of Object.entries(filtersOf(kind))) {
    const text = query.get(name)
    if (text === null) continue
    const condition = filter.condition(text, now, scopes)
    if (!condition.ok) return condition
    conditions.push(condition.value)
  }
  return ok(conditions)
}
