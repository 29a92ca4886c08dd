/**
 * Creates a stream table, for migrations: released ones never change, so neither does the result for the same
 * arguments.
 */
import { buildIndex, type Migration } from '../migration.ts'
import { fillTemplate, readSql, statementsOf } from '../sql-file.ts'

interface StreamTableColumns {
  readonly name: string
  /** The kind's own columns, as `name type`. */
  readonly columns: readonly string[]
  /** Own columns that are unique within the organization, nulls apart. */
  readonly unique?: readonly string[]
  /** Own columns to find rows by, within the organization, newest first. */
  readonly lookup?: readonly string[]
  /** Likewise, and rows are also found by having none. */
  readonly lookupOrNull?: readonly string[]
  /** Own columns by which a removal finds the rows that refer to what is removed. */
  readonly references?: readonly string[]
  /** Whether rows are found by tags and words. */
  readonly search?: boolean
}

export function createStreamTable(table: StreamTableColumns): string[] {
  const { name, unique = [], lookup = [], lookupOrNull = [], references = [] } = table
  const named = (columns: readonly string[]) => columns.map((column) => ({ column }))
  const lists = {
    column: table.columns.map((column) => {
      const [own = '', ...type] = column.split(' ')
      return { column: own, type: type.join(' ') }
    }),
    unique: named(unique),
    lookup: named(lookup),
    lookup_or_null: named(lookupOrNull),
    reference: named(references),
  }
  return [
    ...statementsOf(fillTemplate(readSql(import.meta.url, './stream-table.sql'), { name }, lists)),
    ...(table.search
      ? statementsOf(fillTemplate(readSql(import.meta.url, './words-table.sql'), { name }))
      : []),
  ]
}

/**
 * The migration with which a kind gets a new version: an index of rows with earlier ones, empty when all are upgraded.
 */
export function indexOutdated(table: string, version: number): Omit<Migration, 'id'> {
  return {
    gradually: {
      indexes: buildIndex(
        `${table}_outdated_next`,
        `${table} (organization_id, id) where body_version < ${version} and removed_at is null`,
      ),
    },
    statements: [
      `drop index if exists ${table}_outdated`,
      `alter index ${table}_outdated_next rename to ${table}_outdated`,
    ],
  }
}
