/**
 * Brings the schema to what this version of the code needs. Any number of processes may start at once: one
 * migrates under a lock, the others wait for it and find nothing left to do.
 */
import type { Client, Pool } from 'pg'
import { explainDatabaseFailure } from './failure.ts'
import type { Migration, Schema, SchemaFunction } from './migration.ts'
import { allowStatements } from './silence.ts'
import type { Tx } from './transaction.ts'

/** The database cannot be brought to this version; the message says why and what to do. */
export class MigrationError extends Error {}

/** PostgreSQL's number for "the schema of Deskwire": any constant that nothing else on the server locks. */
export const migrationLock = 6_737_201_101

/**
 * Applies what is missing, in the order of the ids, each migration in a transaction of its own, and answers
 * with the ids applied. Throws MigrationError when the server is too old, or the database knows a migration that
 * this code does not.
 */
export async function migrate(pool: Pool, schema: Schema): Promise<readonly string[]> {
  const client = await pool.connect()
  try {
    await requireServer(client)
    await client.query('set statement_timeout = 0')
    // What is committed later, elsewhere too, is on disk only after all of this is: a crash takes its end, which the next start makes again.
    await client.query('set synchronous_commit = off')
    allowStatements(client, 0)
    await client.query(`select pg_advisory_lock(${migrationLock})`)
    return await applyMissing(client, schema)
  } finally {
    // Ending the session frees the lock and forgets the setting, whatever happened.
    client.release(true)
  }
}

/** The oldest major version of PostgreSQL whose SQL all statements keep to. */
export const oldestServer = 15

async function requireServer(client: Pick<Client, 'query'>): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string; server_version: string }>(
    `select current_setting('server_version_num') as server_version_num,
       current_setting('server_version') as server_version`,
  )
  const [row] = rows
  if (row !== undefined && Number(row.server_version_num) >= oldestServer * 10_000) return
  throw new MigrationError(
    `the database server is PostgreSQL ${row?.server_version}; Deskwire needs ${oldestServer} or later: upgrade the server, or use another`,
  )
}

async function applyMissing(
  client: Pick<Client, 'query'>,
  { migrations, functions }: Schema,
): Promise<readonly string[]> {
  await client.query(migrationsTable)
  const { rows } = await client.query<{ id: string }>('select id from schema_migrations order by id')
  const applied = new Set(rows.map(({ id }) => id))
  const known = new Set(migrations.map(({ id }) => id))
  const unknown = [...applied].filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw new MigrationError(
      `the database is newer than this version of Deskwire: it holds the migration ${unknown.join(', ')}; start the version that made it, or a newer one`,
    )
  }
  const missing = [...migrations].sort((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => !applied.has(id))
  for (const migration of missing) await apply(client, migration)
  await provideFunctions(client, functions)
  return missing.map(({ id }) => id)
}

async function apply(client: Pick<Client, 'query'>, migration: Migration): Promise<void> {
  await client.query('begin')
  try {
    await applyStatements(client, migration)
    await client.query('commit')
  } catch (error) {
    // Where the connection broke there is nothing to roll back, and its end is what to tell of.
    await client.query('rollback').catch(() => {})
    const why = explainDatabaseFailure(error) ?? (error as Error).message
    throw new MigrationError(`migration ${migration.id} failed: ${why}`, { cause: error })
  }
}

/** Applies these migrations, and no other, as part of the caller's transaction. */
export async function applyWithin(tx: Pick<Tx, 'query'>, migrations: readonly Migration[]): Promise<void> {
  await tx.query(migrationsTable)
  for (const migration of migrations) await applyStatements(tx, migration)
}

const migrationsTable = `create table if not exists schema_migrations (
    id text primary key,
    applied_at timestamptz(3) not null default now()
  )`

async function applyStatements(client: Pick<Client, 'query'>, { id, statements }: Migration): Promise<void> {
  for (const statement of statements) await client.query(statement)
  await client.query('insert into schema_migrations (id) values ($1)', [id])
}

/** Makes the functions that are missing. Those of earlier releases stay: processes of theirs may still be running. */
export async function provideFunctions(
  client: Pick<Client, 'query'>,
  functions: readonly SchemaFunction[],
): Promise<void> {
  for (const { name, definition } of functions) {
    const { rows } = await client.query(
      'select 1 from pg_proc where proname = $1 and pronamespace = current_schema()::regnamespace',
      [name],
    )
    if (rows.length === 0) await client.query(definition)
  }
}
