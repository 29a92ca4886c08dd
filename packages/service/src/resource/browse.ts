/** Browsing: existing rows, newest first, by filter. For display; rows move between pages while data changes. */
import type { Pool } from 'pg'
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

export function createBrowse(pool: Pool, kind: Kind): Browse {
  return {
    async page(organizationId, { limit, offset, conditions }) {
      const values: unknown[] = [organizationId, limit, offset]
      const filters = conditions.map((condition) => filter(condition, values))
      const { rows } = await pool.query<{ records: string | null; found: number; total: string }>({
        text: browseStatement(kind, filters),
        values,
      })
      const [row] = rows
      return { records: row?.records ?? '', found: row?.found ?? 0, total: Number(row?.total ?? 0) }
    },
  }
}

/** Without filters the total is a counter that every commit keeps; with them it is counted. */
function browseStatement(kind: Kind, filters: readonly string[]): string {
  const { name } = kind.table
  const total =
    filters.length === 0
      ? `select k.live_count from kind_counters k where k.organization_id = $1 and k.kind = '${kind.name}'`
      : `select count(*) from ${name} t where t.organization_id = $1 and t.removed_at is null${filters.join('')}`
  return `with page as materialized (
      select t.created_at, t.id, t.body from ${name} t
        where t.organization_id = $1 and t.removed_at is null${filters.join('')}
        order by t.created_at desc, t.id desc limit $2 offset $3)
    select coalesce((${total}), 0) as total, (select count(*)::int from page) as found,
      (select string_agg(p.body, ',' order by p.created_at desc, p.id desc) from page p) as records`
}

/** The condition in SQL; its values join `values`. */
function filter(condition: Condition, values: unknown[]): string {
  switch (condition.on) {
    case 'column':
      return ` and t.${condition.column} = $${values.push(condition.value)}::${condition.type}`
    case 'tag':
      return ` and t.tags @> array[$${values.push(condition.tag)}::text]`
    case 'createdAfter':
      return ` and t.created_at > $${values.push(condition.at)}::timestamptz`
    case 'createdBefore':
      return ` and t.created_at < $${values.push(condition.at)}::timestamptz`
    case 'words': {
      // Words hold letters and digits only (searchWords), so they cannot be operators. Each is a beginning.
      const query = condition.words.map((word) => `${word}:*`).join(' & ')
      return ` and to_tsvector('simple', t.search) @@ to_tsquery('simple', $${values.push(query)})`
    }
  }
}
