/**
 * The tables of an organization: every table with its id, found in the catalogue, so that no new one is forgotten. Most
 * rows are copied before the cutover. Those that make the organization work (its row, clock, keys and endpoints with
 * all that refers to them, and lists of work) are copied in the cutover, in one commit, as the database that has them
 * serves the organization.
 */
import { escapeIdentifier, escapeLiteral, type Pool } from 'pg'
import { tablesOf } from '../backup/tables.ts'
import { directoryTables } from '../databases/directory.ts'

export interface MovingTable {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns of its primary key after the organization's id. */
  readonly key: readonly { readonly name: string; readonly type: string }[]
  /** Its rows are copied in the cutover. */
  readonly atCutover: boolean
}

/** Work lists of maintenance, which do not refer to an organization. */
const workLists = ['erasures', 'commits']
const ownTables = ['organization_moves', 'move_changes', 'organization_arrivals', 'moved_rows']

interface CatalogueRow {
  readonly name: string
  readonly key: readonly { readonly name: string; readonly type: string }[]
  readonly refers: readonly string[]
}

/** The tables of an organization, each after those that it refers to. */
export async function movingTables(db: Pick<Pool, 'query'>): Promise<readonly MovingTable[]> {
  const { rows } = await db.query<CatalogueRow>(
    `select c.relname::text as name,
         (select coalesce(jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by k.place), '[]')
           from pg_constraint p cross join lateral unnest(p.conkey) with ordinality as k(number, place)
           join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
           where p.conrelid = c.oid and p.contype = 'p' and a.attname <> 'organization_id') as key,
         array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
           where f.conrelid = c.oid and f.contype = 'f') as refers
       from pg_class c join pg_attribute o on o.attrelid = c.oid and o.attname = 'organization_id' and not o.attisdropped
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and c.relname <> all($1)`,
    [[...directoryTables, ...ownTables]],
  )
  const catalogue = new Map(rows.map((row) => [row.name, row]))
  const refersToOrganization = (name: string): boolean =>
    name === 'organizations' || (catalogue.get(name)?.refers ?? []).some(refersToOrganization)
  return (await tablesOf(db)).flatMap(({ name, columns }) => {
    const found = catalogue.get(name)
    if (found === undefined) return []
    const atCutover = refersToOrganization(name) || workLists.includes(name)
    return [{ name, columns, key: found.key, atCutover }]
  })
}

/** SQL: the keys `k` of a JSON array. */
export function keysIn({ key }: MovingTable, json: string): string {
  const columns = key.map(({ name, type }) => `${escapeIdentifier(name)} ${type}`)
  return `jsonb_to_recordset(${json}::jsonb) as k(${columns.join(', ')})`
}

/** SQL: the row `t` has the key `k`. */
export function sameKey({ key }: MovingTable): string {
  return key.map(({ name }) => `t.${escapeIdentifier(name)} = k.${escapeIdentifier(name)}`).join(' and ')
}

/** SQL: `from` and `where` of the rows `t` with noted changes that still exist. */
export function changedRows(table: MovingTable, organizationId: string): string {
  const { name, key } = table
  const keys = key.map(
    (column) => `(c.key->>'${column.name}')::${column.type} as ${escapeIdentifier(column.name)}`,
  )
  const organization = escapeLiteral(organizationId)
  return `from (select distinct ${keys.join(', ')} from move_changes c
      where c.organization_id = ${organization} and c.table_name = '${name}') k
    join ${escapeIdentifier(name)} t on t.organization_id = ${organization} where ${sameKey(table)}`
}
