/** Creates a stream table, for migrations: released ones never change, so neither does the result for the same arguments. */
import { buildIndex, type Migration } from '../migration.ts'

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
  const {
    name,
    columns,
    unique = [],
    lookup = [],
    lookupOrNull = [],
    references = [],
    search = false,
  } = table
  return [
    `create table ${name} (
      organization_id uuid not null,
      id uuid not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      removed_at timestamptz(3),
      body text not null,
      ${columns.map((column) => `${column},\n      `).join('')}body_version smallint not null default 1,
      primary key (organization_id, id),
      check (updated_at >= created_at),
      check (removed_at = updated_at)
    ) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)`,
    // The stream: rows and removals in one order.
    `create index ${name}_stream on ${name} (organization_id, updated_at, id)`,
    // A first sync reads existing rows without stepping over old removals, and removals without stepping over rows.
    `create index ${name}_live on ${name} (organization_id, updated_at, id) where removed_at is null`,
    `create index ${name}_removed on ${name} (organization_id, updated_at, id) where removed_at is not null`,
    `create index ${name}_browse on ${name} (organization_id, created_at desc, id desc) where removed_at is null`,
    ...unique.map(
      (column) =>
        `create unique index ${name}_${column} on ${name} (organization_id, ${column}) where ${column} is not null`,
    ),
    ...lookup.map(
      (column) =>
        `create index ${name}_${column} on ${name} (organization_id, ${column}, created_at desc, id desc)
          where removed_at is null and ${column} is not null`,
    ),
    ...lookupOrNull.map(
      (column) =>
        `create index ${name}_${column} on ${name} (organization_id, ${column}, created_at desc, id desc)
          where removed_at is null`,
    ),
    ...references.map(
      (column) =>
        `create index ${name}_${column} on ${name} (organization_id, ${column})
          where removed_at is null and ${column} is not null`,
    ),
    ...(search ? createSearchTable(name) : []),
  ]
}

/** Search terms (decision 27), in a table of their own, so that other changes write nothing here. */
function createSearchTable(table: string): string[] {
  return [
    `create table ${table}_words (
      organization_id uuid not null,
      id uuid not null,
      created_at timestamptz(3) not null,
      terms text not null,
      primary key (organization_id, id)
    )`,
    // New entries wait in a list that every search reads: PostgreSQL's default of 4 MiB takes 10 ms.
    `create index ${table}_words_found on ${table}_words using gin (search_vector(organization_id, terms))
      with (gin_pending_list_limit = 1024)`,
    // Documents that an earlier release wrote (kinds/model/reindex.ts): empty when all are written anew.
    `create index ${table}_words_outdated on ${table}_words (organization_id, id) where left(terms, 2) <> '~3'`,
  ]
}

/** The migration with which a kind gets a new version: an index of rows with earlier ones, empty when all are upgraded. */
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
