/** Finds rows of an earlier version of their kind, by the partial index of `indexOutdated`. */
import { isServedHere } from '../db/not-served.ts'
import type { Queryable } from '../db/pool.ts'
import { nilUuid } from '../kernel/ids.ts'
import { timestampText } from './body.ts'
import type { StoredRow } from './rows.ts'
import type { StreamTable } from './stream-table.ts'

export interface OutdatedRow extends StoredRow {
  readonly id: string
}

/** The version is a constant: with a parameter the planner does not use the partial index. */
const outdated = ({ version }: StreamTable) => `t.body_version < ${version} and t.removed_at is null`

/** Organizations with such rows that this database serves: one index look-up each, however many rows they have. */
export function organizationsWithOutdated(
  database: Queryable,
  table: StreamTable,
): Promise<readonly string[]> {
  return organizationsWith(database, table.name, outdated(table))
}

/** Organizations with rows `t` of the table for which the condition holds, by its partial index. */
export async function organizationsWith(
  database: Queryable,
  table: string,
  condition: string,
): Promise<readonly string[]> {
  const { rows } = await database.query<{ organization_id: string }>(
    `with recursive o as (
       (select t.organization_id from ${table} t where ${condition} order by t.organization_id limit 1)
       union all
       select (select t.organization_id from ${table} t
           where t.organization_id > o.organization_id and ${condition} order by t.organization_id limit 1)
         from o where o.organization_id is not null)
     select o.organization_id from o
       join organizations g on g.organization_id = o.organization_id and ${isServedHere('g')}`,
  )
  return rows.map(({ organization_id }) => organization_id)
}

/** The next `limit` rows of an organization after this id; null: from the first. */
export async function readOutdated(
  database: Queryable,
  table: StreamTable,
  organizationId: string,
  after: string | null,
  limit: number,
): Promise<readonly OutdatedRow[]> {
  const { rows } = await database.query<OutdatedRow>({
    name: `outdated_${table.name}_${table.version}`,
    text: `select t.id, t.body, ${timestampText('t.updated_at')} as "updatedAt", t.body_version as version
             from ${table.name} t
             where t.organization_id = $1 and t.id > $2 and ${outdated(table)} order by t.id limit ${limit}`,
    values: [organizationId, after ?? nilUuid],
  })
  return rows
}

/** Counts up to `most`. */
export async function countOutdated(database: Queryable, table: StreamTable, most: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>({
    name: `count_outdated_${table.name}_${table.version}`,
    text: `select count(*)::int as count
             from (select t.organization_id from ${table.name} t where ${outdated(table)} limit ${most}) c`,
  })
  return rows[0]?.count ?? 0
}
