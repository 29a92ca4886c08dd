/** Brings the schema to the version of this code, under a lock that other processes wait for. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Pool } from 'pg'
import { allowStatements } from './client.ts'
import { explainDatabaseFailure, isHeldElsewhere } from './failure.ts'
import {
  type Gradually,
  type Migration,
  type PieceOfWork,
  type Schema,
  type SchemaFunction,
  unknownMigrations,
  unreleasedAdvice,
} from './migration.ts'
import type { Tx } from './pool.ts'
import { readSql } from './sql-file.ts'

/** The database cannot be migrated; the message says why and what to do. */
export class MigrationError extends Error {}

export const migrationLock = 6_737_201_101

/**
 * Applies missing migrations in the order of their ids, each in its own transaction, and returns their ids. @throws
 * MigrationError when the server is too old, or the database has a migration of a later version or from before the
 * first release.
 */
export async function migrate(pool: Pool, schema: Schema): Promise<readonly string[]> {
  const client = await pool.connect()
  try {
    await requireServer(client)
    await client.query('set statement_timeout = 0')
    // Any later commit makes these durable too; after a crash the next start repeats the last ones.
    await client.query('set synchronous_commit = off')
    allowStatements(client, 0)
    await takeLock(client)
    return await applyMissing(client, schema)
  } finally {
    // Closing the session releases the lock and resets the setting.
    client.release(true)
  }
}

/** Milliseconds between checks whether the other process has finished. */
const lockCheckEvery = 100

/**
 * Polls: a statement that waits for the lock would hold a snapshot, and a concurrent index build waits for all
 * snapshots.
 */
async function takeLock(client: Pick<Client, 'query'>): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(${migrationLock}) as mine`,
    )
    if (rows[0]?.mine) return
    await delay(lockCheckEvery)
  }
}

/** The oldest supported major version of PostgreSQL. */
export const oldestServer = 15

async function requireServer(client: Pick<Client, 'query'>): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string; encoding: string }>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as version,
       current_setting('server_encoding') as encoding`,
  )
  const { number, version, encoding } = rows[0] ?? { number: '0', version: 'unknown', encoding: '' }
  if (Number(number) < oldestServer * 10_000)
    throw new MigrationError(
      `the database server is PostgreSQL ${version}; Deskwire needs ${oldestServer} or later: upgrade the server, or use another`,
    )
  if (encoding !== 'UTF8') throw new MigrationError(`${wrongEncoding(encoding)}; ${encodingAdvice}`)
}

export const wrongEncoding = (encoding: string) =>
  `the encoding of the database is ${encoding}, and has to be UTF8`
export const encodingAdvice =
  "make one with create database … encoding 'UTF8' template template0, and name it in DESKWIRE_DATABASE_URL"

async function applyMissing(
  client: Pick<Client, 'query'>,
  { migrations, functions }: Schema,
): Promise<readonly string[]> {
  await client.query(migrationsTable)
  const { rows } = await client.query<{ id: string }>('select id from schema_migrations order by id')
  const applied = new Set(rows.map(({ id }) => id))
  const unknown = unknownMigrations({ migrations }, applied)
  if (unknown?.areUnreleased)
    throw new MigrationError(
      `the database was made before the first release of Deskwire, and this version does not read it; nothing was changed: ${unreleasedAdvice}`,
    )
  if (unknown !== null)
    throw new MigrationError(
      `the database is newer than this version of Deskwire: it holds the migration ${unknown.ids.join(', ')}; start the version that made it, or a newer one`,
    )
  const missing = [...migrations].sort((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => !applied.has(id))
  for (const migration of missing) await apply(client, migration)
  await provideFunctions(client, functions)
  return missing.map(({ id }) => id)
}

/**
 * A statement that waits for a table lock blocks all later ones, readers too. So a migration waits briefly, lets others
 * through, and tries again, for about an hour: longer than a backup holds the lock. Milliseconds.
 */
const lockWait = 300
const lockAgainAfter = 700
const lockTries = 3_600

export async function apply(client: Pick<Client, 'query'>, migration: Migration): Promise<void> {
  try {
    if (migration.gradually !== undefined) await applyGradually(client, migration.gradually)
    await inTransaction(client, () => applyStatements(client, migration))
  } catch (error) {
    const why = isHeldElsewhere(error)
      ? `somebody has held a lock for an hour (${error.message}): end what runs for so long, and start again`
      : (explainDatabaseFailure(error) ?? (error as Error).message)
    throw new MigrationError(`migration ${migration.id} failed: ${why}`, { cause: error })
  }
}

async function applyGradually(
  client: Pick<Client, 'query'>,
  { prepare = [], piece, indexes = [] }: Gradually,
): Promise<void> {
  await inTransaction(client, () => runAll(client, prepare))
  await runPieces(client, piece)
  await runAll(client, indexes)
}

async function runPieces(client: Pick<Client, 'query'>, piece: Gradually['piece']): Promise<void> {
  if (piece === undefined) return
  const work = typeof piece === 'string' ? inSql(piece) : piece
  let next: string | null = null
  do next = await work(client, next)
  while (next !== null)
}

function inSql(piece: string): PieceOfWork {
  return async (client, next) => {
    const { rows } = await client.query<{ next: string | null }>(piece, [next])
    return rows[0]?.next ?? null
  }
}

async function runAll(client: Pick<Client, 'query'>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement)
}

/** Runs `work` in a transaction that waits only briefly for each lock, and retries it. */
export async function inTransaction(client: Pick<Client, 'query'>, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    await client.query('begin')
    try {
      await client.query(`set local lock_timeout = ${lockWait}`)
      await work()
      await client.query('commit')
      return
    } catch (error) {
      // On a broken connection there is nothing to roll back, and its own error is the one to report.
      await client.query('rollback').catch(() => {})
      if (!isHeldElsewhere(error) || tries === lockTries) throw error
      await delay(lockAgainAfter)
    }
  }
}

/** Applies exactly these migrations in the caller's transaction. */
export async function applyWithin(tx: Pick<Tx, 'query'>, migrations: readonly Migration[]): Promise<void> {
  await tx.query(migrationsTable)
  for (const migration of migrations) {
    if (migration.gradually !== undefined) {
      const { prepare = [], piece, indexes = [] } = migration.gradually
      await runAll(tx, prepare)
      await runPieces(tx, piece)
      await runAll(
        tx,
        indexes.map((statement) =>
          statement.replace(/^((?:create|create unique|drop) index) concurrently/, '$1'),
        ),
      )
    }
    await applyStatements(tx, migration)
  }
}

/** Its rows are the migrations that a database has had. */
export const migrationsTable = readSql(import.meta.url, './schema-migrations.sql')

async function applyStatements(client: Pick<Client, 'query'>, { id, statements }: Migration): Promise<void> {
  await runAll(client, statements)
  await client.query('insert into schema_migrations (id) values ($1)', [id])
}

/** Creates missing functions. Those of earlier releases stay, as processes of those releases may still run. */
export async function provideFunctions(
  client: Pick<Client, 'query'>,
  functions: readonly SchemaFunction[],
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select p.proname::text as name from pg_proc p
       where p.pronamespace = current_schema()::regnamespace and p.proname = any($1)
     union all select t.typname::text from pg_type t
       where t.typnamespace = current_schema()::regnamespace and t.typname = any($1)`,
    [functions.map(({ name }) => name)],
  )
  const provided = new Set(rows.map(({ name }) => name))
  for (const { name, definition } of functions) if (!provided.has(name)) await client.query(definition)
}
