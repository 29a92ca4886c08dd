/** Browsing: existing rows, newest first, by filter. For display; rows move between pages while data changes. */
import type { Database } from '../db/fair-pool.ts'
import type { Kind } from './kind.ts'
import type { Condition } from './list-query.ts'

export interface BrowsePage {
  /** The rows' bodies, joined by commas. */
  readonly records: string
  readonly found: number
  readonly total: number
}

export interface Browse {
  page(
    organizationId: string,
    query: { readonly limit: number; readonly offset: number; readonly conditions: readonly Condition[] },
  ): Promise<BrowsePage>
}

export function createBrowse(database: Pick<Database, 'of' | 'ofLong'>, kind: Kind): Browse {
  return {
    async page(organizationId, { limit, offset, conditions }) {
      const values: unknown[] = [organizationId, limit, offset]
      const filters = conditions.map((condition) => filter(condition, values))
      // What is filtered is counted too, however much it is.
      const connection =
        conditions.length === 0 ? database.of(organizationId) : database.ofLong(organizationId)
      const { rows } = await connection.query<{ records: string | null; found: number; total: string }>({
        text: browseStatement(kind, conditions, filters),
        values,
      })
      const [row] = rows
      return { records: row?.records ?? '', found: row?.found ?? 0, total: Number(row?.total ?? 0) }
    },
  }
}

/**
 * Without filters the total is a counter that every commit keeps; with them it is counted. What is found by words, by
 * tags or by a time other than its creation comes in an order of its own: it is found once, for the count and the page
 * alike, as a page that looks for it from the newest row on may read every row there is.
 */
function browseStatement(kind: Kind, conditions: readonly Condition[], filters: readonly string[]): string {
  const { name } = kind.table
  const rows = `from ${name} t where t.organization_id = $1 and t.removed_at is null${filters.join('')}`
  const page = (source: string) => `page as materialized (
      select t.created_at, t.id, t.body ${source} order by t.created_at desc, t.id desc limit $2 offset $3)`
  const answer = (total: string) => `select ${total} as total, (select count(*)::int from page) as found,
      (select string_agg(p.body, ',' order by p.created_at desc, p.id desc) from page p) as records`
  if (conditions.length === 0) {
    const counter = `select k.live_count from kind_counters k where k.organization_id = $1 and k.kind = '${kind.name}'`
    return `with ${page(rows)} ${answer(`coalesce((${counter}), 0)`)}`
  }
  const worded = conditions.some(({ on }) => on === 'words' || on === 'tag')
  if (!worded && !conditions.some(isElsewhereOrdered)) {
    return `with ${page(rows)} ${answer(`(select count(*) ${rows})`)}`
  }
  const found = worded
    ? `from ${name}_words w
        join ${name} t on t.organization_id = $1 and t.id = w.id
        where w.organization_id = $1 and t.removed_at is null${filters.join('')}`
    : rows
  return `with matching as materialized (
      select t.created_at, t.id ${found}),
    newest as materialized (
      select m.id from matching m order by m.created_at desc, m.id desc limit $2 offset $3),
    page as materialized (
      select t.created_at, t.id, t.body from newest n join ${name} t on t.organization_id = $1 and t.id = n.id)
    ${answer('(select count(*) from matching)')}`
}

/** A range of a column by which the rows are not browsed. */
function isElsewhereOrdered(condition: Condition): boolean {
  return (condition.on === 'after' || condition.on === 'before') && condition.column !== 'created_at'
}

/** The condition in SQL; its values join `values`. */
function filter(condition: Condition, values: unknown[]): string {
  switch (condition.on) {
    case 'column':
      return ` and t.${condition.column} = $${values.push(condition.value)}::${condition.type}`
    case 'tag':
      return ` and w.tags @> array[$${values.push(condition.tag)}::text]`
    case 'after':
      return ` and t.${condition.column} > $${values.push(condition.at)}::timestamptz`
    case 'before':
      return ` and t.${condition.column} < $${values.push(condition.at)}::timestamptz`
    case 'words': {
      // Words hold letters and digits only (searchWords), so they cannot be operators. Each is a beginning.
      const query = condition.words.map((word) => `${word}:*`).join(' & ')
      return ` and to_tsvector('simple', w.search) @@ to_tsquery('simple', $${values.push(query)})`
    }
  }
}
