/** Reads rows by id or unique value, for GET and for decisions. */
import type { Database } from '../db/fair-pool.ts'
import { arrayParameter, hiddenArray, queryText } from '../db/text-query.ts'
import { coalesce } from '../kernel/shared-work.ts'
import { timestampText } from './body.ts'
import type { StreamReference, StreamTable } from './stream-table.ts'

export interface StoredRow {
  /** The representation that GET sends. */
  readonly body: string
  readonly updatedAt: string
  /** The version of its kind that the representation has. */
  readonly version: number
}

export interface RowReader {
  /** Null: there is none, it was removed, or it is another organization's. */
  read(organizationId: string, id: string): Promise<StoredRow | null>
  /** The rows that changes of `ids` may change, the newest hundred of each; oldest first. */
  changeable(
    organizationId: string,
    reference: StreamReference,
    ids: readonly string[],
  ): Promise<readonly FoundRow[]>
  /** Existing rows whose unique text `column` is one of `values`; oldest first. */
  withUnique(organizationId: string, column: string, values: readonly string[]): Promise<readonly FoundRow[]>
}

export interface FoundRow extends StoredRow {
  readonly id: string
  /** The value that it was found by. */
  readonly target: string
}

/** Reads rows of one table. Concurrent reads of all organizations share a query; one each kept the database busy. */
export function createRowReader(
  database: Pick<Database, 'of' | 'forSeveral'>,
  table: StreamTable,
): RowReader {
  const columns = ['organization_id', 'id', 'body', 'updated_at', 'body_version', 'removed_at']
  const statement = {
    name: `read_${table.name}`,
    text: `select t.organization_id, t.id, t.body, ${timestampText('t.updated_at')} as updated_at, t.body_version
             from unnest(${hiddenArray('$1', 'uuid')}, ${hiddenArray('$2', 'uuid')}) as k(organization_id, id)
             cross join lateral (${rowByKey(table.name, columns, 'k.organization_id', 'k.id')}) t
             where t.removed_at is null`,
  }
  const keyOf = (organizationId: string, id: string) => `${organizationId} ${id}`

  const read = coalesce(async (wanted: readonly Wanted[]): Promise<readonly (StoredRow | null)[]> => {
    const distinct = new Map(wanted.map((one) => [keyOf(one.organizationId, one.id), one]))
    const rows = await queryText(database.forSeveral, statement, [
      arrayParameter([...distinct.values()].map(({ organizationId }) => organizationId)),
      arrayParameter([...distinct.values()].map(({ id }) => id)),
    ])
    const found = new Map(
      rows.map(([organizationId, id, body, updatedAt, version]) => [
        keyOf(String(organizationId), String(id)),
        { body: String(body), updatedAt: String(updatedAt), version: Number(version) },
      ]),
    )
    return wanted.map(({ organizationId, id }) => found.get(keyOf(organizationId, id)) ?? null)
  })

  /** Looks each value up by itself: a server without statistics would read all rows in the order of the result. */
  async function findBy(
    column: string,
    type: 'uuid' | 'text',
    which: string,
    organizationId: string,
    values: readonly string[],
  ): Promise<readonly FoundRow[]> {
    if (values.length === 0) return []
    const found = {
      name: `read_${table.name}_by_${column}`,
      text: `select t.id, t.body, ${timestampText('t.updated_at')} as updated_at, t.body_version, t.${column} as target
               from unnest(${hiddenArray('$2', type)}) as k(target)
               cross join lateral (select f.id, f.body, f.updated_at, f.body_version, f.${column}, f.created_at from ${table.name} f
                 where f.organization_id = $1 and f.${column} between k.target and k.target and f.removed_at is null
                 ${which}) t
               order by t.created_at, t.id`,
    }
    const rows = await queryText(database.of(organizationId), found, [organizationId, arrayParameter(values)])
    return rows.map(([id, body, updatedAt, version, target]) => ({
      id: String(id),
      body: String(body),
      target: String(target),
      updatedAt: String(updatedAt),
      version: Number(version),
    }))
  }

  return {
    read: (organizationId, id) => read({ organizationId, id }),
    changeable: (organizationId, reference, ids) =>
      findBy(reference.column.name, 'uuid', `and ${changeableRows(reference)}`, organizationId, ids),
    withUnique: (organizationId, column, values) =>
      findBy(column, 'text', `order by f.${column} offset 0`, organizationId, values),
  }
}

interface Wanted {
  readonly organizationId: string
  readonly id: string
}

/**
 * SQL: the row of a stream table with this key, as a subquery in FROM. Without statistics the planner takes any index
 * that begins with the organization for as good as the primary key. Only the key has this order; it is a range
 * because an equality makes the order irrelevant.
 */
function rowByKey(table: string, columns: readonly string[], organizationId: string, id: string): string {
  const selected = columns.map((column) => `f.${column}`).join(', ')
  return `select ${selected} from ${table} f where f.organization_id = ${organizationId} and f.id between ${id} and ${id}
              order by f.id limit 1`
}

/**
 * SQL: the last condition of rows `f` that refer to another, and their order: the newest hundred that a change of that
 * one may change. Only one index has the order, for the reason above.
 */
export function changeableRows({ field, column, changeable }: StreamReference): string {
  if (changeable === undefined) throw new Error(`nothing changes objects by ${field}`)
  const values = changeable.values.map((value) => `'${value}'`).join(', ')
  return `f.${changeable.column} in (${values}) order by f.${column.name}, f.created_at desc, f.id desc limit 100`
}
