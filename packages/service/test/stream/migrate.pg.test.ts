/** The schema: made once whoever comes first, never half, and just what the kinds declare. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { MigrationError, migrate } from '../../src/db/migrate.ts'
import { createPool } from '../../src/db/pool.ts'
import { kinds } from '../../src/desk/index.ts'
import { schemaOf } from '../../src/schema.ts'

const { migrations, functions } = schemaOf()
const ids = migrations.map(({ id }) => id).sort()

async function tablesOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ table_name: string }>(
    `select t.table_name from information_schema.tables t where t.table_schema = 'public'`,
  )
  return rows.map((row) => row.table_name).sort()
}

test('of many processes that migrate at once, one does each step', async () => {
  await using database = await testDatabase({ template: null, max: 2 })
  const pools = Array.from({ length: 6 }, () =>
    createPool(database.connection, { max: 1, onIdleError: () => {} }),
  )
  try {
    const applied = await Promise.all(pools.map((pool) => migrate(pool, { migrations, functions })))
    expect(applied.flat().sort()).toEqual(ids)
    expect(applied.filter((some) => some.length > 0)).toHaveLength(1)
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
  // Again it has nothing to do, and changes nothing.
  const before = await database.pool.query('select m.id, m.applied_at from schema_migrations m order by m.id')
  expect(await migrate(database.pool, { migrations, functions })).toEqual([])
  const after = await database.pool.query('select m.id, m.applied_at from schema_migrations m order by m.id')
  expect(after.rows).toEqual(before.rows)
  expect(before.rows.map(({ id }) => id)).toEqual(ids)
})

test('the lock is free afterwards, and the pool as it was', async () => {
  await using database = await testDatabase()
  await migrate(database.pool, { migrations, functions })
  // Its session ends a moment after it.
  await eventually('the lock is free', async () => {
    const locks = await database.pool.query(
      `select 1 from pg_locks l join pg_database d on d.oid = l.database
         where l.locktype = 'advisory' and d.datname = current_database()`,
    )
    return locks.rows.length === 0
  })
  const { rows } = await database.pool.query<{ statement_timeout: string }>('show statement_timeout')
  expect(rows).toEqual([{ statement_timeout: '30s' }])
})

test('a database that a later version made is refused, and left as it is', async () => {
  await using database = await testDatabase()
  await database.pool.query(`insert into schema_migrations (id) values ('20991231-01-later')`)
  const future = { id: '20270101-01-mine', statements: ['create table mine (n int)'] }
  const refused = migrate(database.pool, { migrations: [...migrations, future], functions })
  await expect(refused).rejects.toThrow(MigrationError)
  await expect(refused).rejects.toThrow(
    /^the database is newer than this version of Deskwire: .*20991231-01-later.*$/,
  )
  expect(await tablesOf(database.pool)).not.toContain('mine')
})

test('a database from before the first release is refused, and left as it is', async () => {
  await using database = await testDatabase({ template: null })
  const { pool } = database
  await pool.query(
    'create table schema_migrations (id text primary key, applied_at timestamptz(3) not null default now())',
  )
  await pool.query(
    `insert into schema_migrations (id) values ('20261120-01-core'), ('20261125-20-customer-marks')`,
  )
  await pool.query('create table customers (id uuid primary key, body text)')
  await pool.query(`insert into customers values (gen_random_uuid(), 'kept')`)
  const state = async () =>
    (
      await pool.query(
        `select (select jsonb_agg(to_jsonb(m)) from schema_migrations m) as migrations,
           (select jsonb_agg(to_jsonb(c)) from customers c) as customers,
           (select array_agg(c.relname::text order by c.relname) from pg_class c where c.relnamespace = 'public'::regnamespace) as relations,
           (select count(*)::int from pg_proc p where p.pronamespace = 'public'::regnamespace) as functions`,
      )
    ).rows
  const before = await state()
  const refused = migrate(pool, { migrations, functions })
  await expect(refused).rejects.toThrow(MigrationError)
  await expect(refused).rejects.toThrow(
    'the database was made before the first release of Deskwire, and this version does not read it; nothing was changed: export what it holds with the version that made it (deskwire export), or start with an empty database',
  )
  expect(await state()).toEqual(before)
})

test('a migration that fails is named and leaves nothing behind, those before it stay', async () => {
  await using database = await testDatabase({ template: null, max: 2 })
  const broken = {
    id: '20991231-02-broken',
    statements: ['create table half (n int)', 'insert into half values (1)', 'select 1 / 0'],
  }
  const later = { id: '20991231-03-later', statements: ['create table later (n int)'] }
  const failed = migrate(database.pool, { migrations: [later, broken, ...migrations], functions })
  await expect(failed).rejects.toThrow(MigrationError)
  await expect(failed).rejects.toThrow('migration 20991231-02-broken failed: division by zero')
  const tables = await tablesOf(database.pool)
  expect(tables).toContain('customers')
  expect(tables).not.toContain('half')
  expect(tables).not.toContain('later')

  // Mended, it goes on where it stopped.
  const mended = { ...broken, statements: broken.statements.slice(0, 2) }
  expect(await migrate(database.pool, { migrations: [later, mended, ...migrations], functions })).toEqual([
    broken.id,
    later.id,
  ])
})

test('a server before PostgreSQL 15 is refused before anything is made', async () => {
  await using database = await testDatabase({ template: null, max: 2 })
  const asked: string[] = []
  const old = {
    async connect() {
      const client = await database.pool.connect()
      return {
        query: (text: string, values?: unknown[]) => {
          asked.push(text)
          if (text.includes('server_version'))
            return { rows: [{ number: '140012', version: '14.12', encoding: 'UTF8' }] }
          return client.query(text, values)
        },
        release: (end: boolean) => client.release(end),
      }
    },
  } as unknown as Pool
  const refused = migrate(old, { migrations, functions })
  await expect(refused).rejects.toThrow(MigrationError)
  await expect(refused).rejects.toThrow(
    'the database server is PostgreSQL 14.12; Deskwire needs 15 or later: upgrade the server, or use another',
  )
  expect(asked.some((text) => text.includes('server_version'))).toBe(true)
  expect(await tablesOf(database.pool)).toEqual([])
})

const streamColumns: Record<string, string> = {
  organization_id: 'uuid',
  id: 'uuid',
  created_at: 'timestamptz(3)',
  updated_at: 'timestamptz(3)',
  removed_at: 'timestamptz(3)',
  body: 'text',
  body_version: 'smallint',
}

test.each(kinds)(
  'the table of $plural has the columns and unique values that its kind declares',
  async ({ table }) => {
    await using database = await testDatabase()
    const { rows } = await database.pool.query<{ name: string; type: string }>(
      `select c.column_name as name,
         case when c.datetime_precision = 3 and c.udt_name = 'timestamptz' then 'timestamptz(3)'
           when c.data_type = 'ARRAY' then substr(c.udt_name, 2) || '[]'
           else c.data_type end as type
       from information_schema.columns c where c.table_schema = 'public' and c.table_name = $1`,
      [table.name],
    )
    const declared = { ...streamColumns, ...Object.fromEntries(table.columns.map((c) => [c.name, c.type])) }
    if (table.sequence !== null) declared[table.sequence.column] = 'bigint'
    expect(Object.fromEntries(rows.map(({ name, type }) => [name, type]))).toEqual(declared)

    // Among all rows that have a value: a condition may leave out those without, and no others.
    const indexes = await database.pool.query<{ columns: string[]; condition: string | null }>(
      `select array_agg(a.attname::text order by k.n) as columns, pg_get_expr(i.indpred, i.indrelid) as condition
       from pg_index i cross join unnest(i.indkey) with ordinality as k(attnum, n)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
       where i.indrelid = $1::regclass and i.indisunique group by i.indexrelid, i.indpred, i.indrelid`,
      [table.name],
    )
    for (const { columns, condition } of indexes.rows) {
      expect([null, `(${columns.at(-1)} IS NOT NULL)`]).toContain(condition)
    }
    const unique = [
      'id',
      ...table.unique.map(({ column }) => column.name),
      ...(table.sequence === null ? [] : [table.sequence.column]),
    ]
    const wanted = unique.map((column) => `organization_id ${column}`)
    expect(indexes.rows.map(({ columns }) => columns.join(' ')).sort()).toEqual(wanted.sort())
  },
)

test.each(kinds)(
  'rows of $plural that are of an earlier version are found by an index',
  async ({ table }) => {
    await using database = await testDatabase()
    const { rows } = await database.pool.query<{ condition: string }>(
      `select pg_get_expr(i.indpred, i.indrelid) as condition from pg_index i
       where i.indexrelid = to_regclass($1)`,
      [`${table.name}_outdated`],
    )
    const condition = `((body_version < ${table.version}) AND (removed_at IS NULL))`
    expect(rows.map((row) => row.condition)).toEqual(table.version === 1 ? [] : [condition])
  },
)

test('ids of migrations are unique and say when they were written', () => {
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^\d{8}-\d{2}-[a-z-]+$/)
})
