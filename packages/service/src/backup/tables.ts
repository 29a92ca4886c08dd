/** The tables of a database with their columns, from its catalogue, so that none is forgotten. */
import { escapeIdentifier, type Pool } from 'pg'
import { BackupError, type BackupTable } from './format.ts'

type Queryable = Pick<Pool, 'query'>

export async function appliedMigrations(db: Queryable): Promise<readonly string[] | null> {
  const { rows: found } = await db.query<{ there: boolean }>(
    `select to_regclass('schema_migrations') is not null as there`,
  )
  if (found[0]?.there !== true) return null
  const { rows } = await db.query<{ id: string }>('select id from schema_migrations order by id')
  return rows.map(({ id }) => id)
}

/** All tables except the list of migrations, each after those that it refers to. Partitions are part of their table. */
export async function tablesOf(db: Queryable): Promise<readonly BackupTable[]> {
  const { rows } = await db.query<BackupTable & { refers: string[] }>(
    `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns,
         array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
           where f.conrelid = c.oid and f.contype = 'f' and r.oid <> c.oid) as refers
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
         and not a.attisdropped and a.attgenerated = ''
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
         and not c.relispartition and c.relname <> 'schema_migrations'
       group by c.oid, c.relname order by c.relname`,
  )
  const sorted: BackupTable[] = []
  let left = rows
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name))
    const ready = left.filter(({ refers }) => !refers.some((name) => waiting.has(name)))
    if (ready.length === 0)
      throw new Error(`tables refer to each other in a circle: ${[...waiting].join(', ')}`)
    sorted.push(...ready.map(({ name, columns }) => ({ name, columns })))
    left = left.filter((table) => !ready.includes(table))
  }
  return sorted
}

/** @throws BackupError unless the database is empty. */
export async function requireNoTables(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_class c
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
       order by c.relname limit 1`,
  )
  const [found] = rows
  if (found === undefined) return
  throw new BackupError(
    `the database is not empty: it holds ${found.name}; restore into a new database (create database …) and set DESKWIRE_DATABASE_URL to it`,
  )
}

export function columnList({ name, columns }: BackupTable): { table: string; columns: string } {
  return { table: escapeIdentifier(name), columns: columns.map(escapeIdentifier).join(', ') }
}
