/** Browsing (specification 6.2): existing rows, newest first, by filter. For display, as rows move between pages. */
import type { Database } from '../../db/fair-pool.ts'
import { queryTextWithin } from '../../db/text-query.ts'
import type { FoundBy, Kind } from '../model/kind.ts'
import { type Sought, searchQuery } from '../model/search.ts'
import type { Condition } from './list-query.ts'

interface BrowsePage {
  readonly records: string
  readonly total: number
  readonly hasMore: boolean
}

interface BrowseQuery {
  readonly limit: number
  readonly offset: number
  readonly after: string | null
  readonly conditions: readonly Condition[]
}

export type Browse = ReturnType<typeof createBrowse>

/**
 * Reads a page. `too_long`: a search for words took longer than `searchTimeout`, in milliseconds, as one that finds a
 * million rows counts and sorts them all; `unknown`: there never was a row `after`.
 */
export function createBrowse(database: Pick<Database, 'of' | 'ofLong'>, kind: Kind, searchTimeout: number) {
  return async (
    organizationId: string,
    query: BrowseQuery,
    signal?: AbortSignal,
  ): Promise<BrowsePage | 'too_long' | 'unknown'> => {
    const { text, values } = browseStatement(kind, organizationId, query)
    // These filters find all rows and sort them, however many there are.
    const isLong = query.conditions.some(({ on }) => !['column', 'null', 'ids'].includes(on))
    const connection = isLong ? database.ofLong(organizationId, signal) : database.of(organizationId, signal)
    if (query.conditions.some(({ on }) => on === 'words')) {
      const rows = await queryTextWithin(connection, searchTimeout, text, values.map(String))
      return rows === 'too_long' ? rows : pageOf(rows[0] ?? [], query)
    }
    const { rows } = await connection.query<(string | number | null)[]>({
      text,
      values: [...values],
      rowMode: 'array',
    })
    return pageOf(rows[0] ?? [], query)
  }
}

function pageOf(
  [total, found, records, isKnown]: readonly (string | number | null)[],
  { limit }: BrowseQuery,
): BrowsePage | 'unknown' {
  if (Number(isKnown) === 0) return 'unknown'
  return { records: String(records ?? ''), total: Number(total), hasMore: Number(found) > limit }
}

/**
 * The page in one statement. Without filters the total is a counter. Rows found by words, whole terms or another time
 * than creation are not in the order of the index, so they are found once, for count and page.
 */
export function browseStatement(
  kind: Kind,
  organizationId: string,
  { limit, offset, after, conditions }: BrowseQuery,
): { readonly text: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [organizationId, limit, offset]
  const { name } = kind.table
  // A removed row keeps its place.
  const place =
    after === null
      ? ''
      : `place as materialized (
      select t.created_at, t.id from ${name} t where t.organization_id = $1 and t.id = $${values.push(after)}::uuid),
    `
  const follows = (table: string) =>
    after === null
      ? ''
      : `(${table}.created_at, ${table}.id) < ((select created_at from place), (select id from place))`
  // A row more than the page shows whether there are more.
  const answer = (total: string) => `select ${total} as total, (select count(*)::int from page) as found,
      (select string_agg(p.body, ',' order by p.created_at desc, p.id desc)
        from (select f.created_at, f.id, f.body from page f order by f.created_at desc, f.id desc limit $2) p) as records,
      ${after === null ? '1' : '(select count(*)::int from place)'} as is_known`
  const others = conditions.filter((condition) => !isTerm(condition))
  if (others.length < conditions.length || others.some(isElsewhereOrdered)) {
    const text = `with ${place}matching as materialized (
      ${foundRows(kind, organizationId, conditions, values)}),
    newest as materialized (
      select m.id from matching m ${after === null ? '' : `where ${follows('m')}`}
        order by m.created_at desc, m.id desc limit $2 + 1 offset $3),
    page as materialized (
      select t.created_at, t.id, t.body from newest n join ${name} t on t.organization_id = $1 and t.id = n.id)
    ${answer('(select count(*) from matching)')}`
    return { text, values }
  }
  const rows = rowsWith(name, others, values)
  const counter = `select k.live_count from commits k where k.organization_id = $1
      and k.kind between '${kind.name}' and '${kind.name}' order by k.kind desc, k.stamp desc limit 1`
  const total = others.length === 0 ? `coalesce((${counter}), 0)` : `(select count(*) ${rows})`
  const text = `with ${place}page as materialized (
      select t.created_at, t.id, t.body ${rows}${after === null ? '' : ` and ${follows('t')}`}
        order by t.created_at desc, t.id desc limit $2 + 1 offset $3)
    ${answer(total)}`
  return { text, values }
}

/** Selects `created_at` and `id` of the rows that the conditions let through; the organization is `$1`. */
export function foundRows(
  kind: Kind,
  organizationId: string,
  conditions: readonly Condition[],
  values: unknown[],
): string {
  const { name } = kind.table
  const terms = conditions.filter(isTerm)
  const others = conditions.filter((condition) => !isTerm(condition))
  if (terms.length > 0) return foundByTerms(name, organizationId, { terms, others }, values)
  return `select t.created_at, t.id ${rowsWith(name, others, values)}`
}

function rowsWith(name: string, conditions: readonly Plain[], values: unknown[]): string {
  const filters = conditions.map((condition) => filter(condition, 't', values)).join('')
  return `from ${name} t where t.organization_id = $1 and t.removed_at is null${filters}`
}

/**
 * By the row's own terms, and by the words of other kinds. The index entries begin with the organization, so the
 * condition on it is written in a form that cannot use the primary key: the planner, which does not know how few rows
 * have a word, would read all of the organization's rows.
 */
function foundByTerms(
  name: string,
  organizationId: string,
  { terms, others }: Conditions,
  values: unknown[],
): string {
  const { sought, foundBy } = terms.find((term) => term.on === 'words') ?? nothingSought
  const whole = terms.flatMap((term) => (term.on === 'term' ? [term.term] : []))
  const parts = sought.parts.map((part) => `$${values.push(part)}`)
  const own = foundByOwn(name, { query: searchQuery(organizationId, sought, whole), parts, others }, values)
  if (foundBy.length === 0) return own
  const query = `$${values.push(searchQuery(organizationId, sought))}::tsquery`
  const marked =
    whole.length === 0
      ? ''
      : ` and exists (select 1 from ${name}_words o where o.organization_id = $1 and o.id = t.id
          and search_vector(o.organization_id, o.terms) @@ $${values.push(searchQuery(organizationId, nothingSought.sought, whole))}::tsquery)`
  const rows = `select t.created_at, t.id ${rowsWith(name, others, values)}${marked}`
  const byOthers = foundBy.map(({ plural, column, refersHere }) =>
    refersHere
      ? `${rows} and t.id in (select r.${column} from ${plural}_words w
            join ${plural} r on r.organization_id = $1 and r.id = w.id where (w.organization_id = $1) is true and ${hasTerms(query, parts)})`
      : `${rows} and t.${column} in (select w.id from ${plural}_words w
            where (w.organization_id = $1) is true and ${hasTerms(query, parts)})`,
  )
  return [own, ...byOthers].join('\n      union\n      ')
}

/** Search documents have the time of creation, so rows are read only where another filter needs them. */
function foundByOwn(
  name: string,
  {
    query,
    parts,
    others,
  }: { readonly query: string; readonly parts: readonly string[]; readonly others: readonly Plain[] },
  values: unknown[],
): string {
  const found = hasTerms(`$${values.push(query)}::tsquery`, parts)
  const rowConditions = others.filter((condition) => !isOfCreation(condition))
  const filters = [
    ...others.filter(isOfCreation).map((condition) => filter(condition, 'w', values)),
    ...rowConditions.map((condition) => filter(condition, 't', values)),
  ]
  const rows = rowConditions.length === 0 ? '' : `join ${name} t on t.organization_id = $1 and t.id = w.id`
  return `select w.created_at, w.id from ${name}_words w ${rows}
        where (w.organization_id = $1) is true and ${found}${filters.join('')}`
}

/** Whether a search document `w` has all of it. */
function hasTerms(query: string, parts: readonly string[]): string {
  const texts = parts.map((part) => ` and strpos(split_part(w.terms, e'\\n', 1), ${part}) > 0`)
  return `search_vector(w.organization_id, w.terms) @@ ${query}${texts.join('')}`
}

const nothingSought = {
  sought: { words: [], choices: [], parts: [] } as Sought,
  foundBy: [] as readonly FoundBy[],
}

type Term = Extract<Condition, { on: 'words' | 'term' }>
type Plain = Exclude<Condition, Term>

interface Conditions {
  readonly terms: readonly Term[]
  readonly others: readonly Plain[]
}

function isTerm(condition: Condition): condition is Term {
  return condition.on === 'words' || condition.on === 'term'
}

function isOfCreation(condition: Plain): boolean {
  return (condition.on === 'after' || condition.on === 'before') && condition.column === 'created_at'
}

/** Conditions that are not in the list's order: ids, or a range of another column. */
function isElsewhereOrdered(condition: Plain): boolean {
  if (condition.on === 'ids' || condition.on === 'time') return true
  return (condition.on === 'after' || condition.on === 'before') && !isOfCreation(condition)
}

/** Adds its value to `values`. */
function filter(condition: Plain, table: string, values: unknown[]): string {
  switch (condition.on) {
    case 'column':
      return ` and ${table}.${condition.column} = $${values.push(condition.value)}::${condition.type}`
    case 'null':
      return ` and ${table}.${condition.column} is null`
    case 'ids':
      return ` and ${table}.id = any($${values.push(condition.ids)}::uuid[])`
    case 'time':
      return ` and ${condition.holds(table, `$${values.push(condition.at)}::text`)}`
    case 'after':
      return ` and ${table}.${condition.column} > $${values.push(condition.at)}::timestamptz`
    case 'before':
      return ` and ${table}.${condition.column} < $${values.push(condition.at)}::timestamptz`
  }
}
