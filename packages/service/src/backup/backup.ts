/** Writes a backup: every row of one snapshot of the database, in one file, while the service runs. */
import type { Pool, PoolClient } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { allowStatements } from '../db/client.ts'
import { unknownMigrations, unreleasedAdvice } from '../db/migration.ts'
import { kinds } from '../desk/index.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import { logWeeks } from '../retention/log-weeks.ts'
import { schemaOf } from '../schema.ts'
import { checkpointsOf, unlikeServed } from './checkpoints.ts'
import {
  BackupError,
  type BackupTable,
  type End,
  encodeFrame,
  type Header,
  writeBackupFile,
} from './format.ts'
import { appliedMigrations, columnList, tablesOf } from './tables.ts'

interface BackupSummary {
  readonly file: string
  readonly createdAt: string
  readonly bytes: number
  readonly rows: number
  readonly organizations: number
  /** Tables of organizations whose rows do not match their checkpoint, because they were changed by hand. */
  readonly unproved: readonly string[]
}

/**
 * Writes the database to a new file, while the service runs. Maintenance waits for it and drops no partition meanwhile;
 * like any long transaction it delays vacuum.
 * @throws BackupError when there is nothing to back up, the database is of a newer release, or the file cannot be
 *   written.
 */
export async function backUp(pool: Pool, clock: Clock, file: string): Promise<BackupSummary> {
  const stream = kinds.map(({ table }) => table)
  const client = await pool.connect()
  try {
    const tables = await takeSnapshot(client)
    const header = await headerOf(client, clock)
    const names = new Set(tables.map(({ name }) => name))
    const there = stream.map(({ name }) => name).filter((name) => names.has(name))
    const checkpoints = await checkpointsOf(client, there)
    const rows: Record<string, number> = {}
    const end = { rows, checkpoints: [...checkpoints] }
    const bytes = await writeBackupFile(file, () => framesOf(client, { header, tables, end }))
    return {
      file,
      createdAt: header.createdAt,
      bytes,
      rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
      organizations: rows.organizations ?? 0,
      unproved: await unlikeServed(client, stream, checkpoints),
    }
  } finally {
    // Ends the transaction, and an interrupted COPY.
    client.release(true)
  }
}

/** Begins the transaction for all reads. Locks the tables only against schema changes. */
async function takeSnapshot(client: PoolClient): Promise<readonly BackupTable[]> {
  const before = await tablesOf(client)
  if (before.length === 0) throw nothingThere()
  await client.query('begin isolation level repeatable read, read only')
  for (const setting of sessionSettings) await client.query(`set local ${setting}`)
  allowStatements(client, 0)
  // Locked before the first query takes the snapshot, so that no partition is dropped in between.
  await client.query(
    `lock table ${before.map((one) => columnList(one).table).join(', ')} in access share mode`,
  )
  const tables = await tablesOf(client)
  if (JSON.stringify(tables) === JSON.stringify(before)) return tables
  throw new BackupError('the schema was changed meanwhile: back up again')
}

/** Independent of the server's settings: no time limits, and one portable format of values. */
export const sessionSettings = [
  'statement_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
  "timezone = 'UTC'",
  "datestyle = 'ISO, YMD'",
  "bytea_output = 'hex'",
  'extra_float_digits = 1',
  // Rows that triggers make are copied as they are.
  "deskwire.copying = 'on'",
]

async function headerOf(client: PoolClient, clock: Clock): Promise<Header> {
  const migrations = await appliedMigrations(client)
  if (migrations === null) throw nothingThere()
  const unknown = unknownMigrations(schemaOf(), migrations)
  if (unknown?.areUnreleased)
    throw new BackupError(
      `the database was made before the first release of Deskwire, and this version does not read it: ${unreleasedAdvice}`,
    )
  if (unknown !== null)
    throw new BackupError(
      `the database is newer than this version of Deskwire: it holds the migration ${unknown.ids.join(', ')}; back it up with the version that made it, or a newer one`,
    )
  const weeks = await logWeeks(client)
  return { createdAt: formatTimestamp(clock.now()), version, migrations: [...migrations], weeks: [...weeks] }
}

function nothingThere(): BackupError {
  return new BackupError('there is nothing to back up: the database holds no Deskwire')
}

/** The content of the file. Counts the rows of each table for `end`, the last frame. */
async function* framesOf(
  client: PoolClient,
  { header, tables, end }: { header: Header; tables: readonly BackupTable[]; end: End },
): AsyncGenerator<Buffer> {
  yield encodeFrame('header', header)
  for (const one of tables) {
    yield encodeFrame('table', one)
    const { table, columns } = columnList(one)
    // A query, because a partitioned table cannot be copied directly.
    const rows = client.query(copyTo(`copy (select ${columns} from ${table}) to stdout`))
    for await (const chunk of rows) yield encodeFrame('rows', chunk as Buffer)
    // The row count may arrive after the last row; the next response is after it.
    await client.query('select')
    end.rows[one.name] = rows.rowCount
  }
  yield encodeFrame('end', end)
}
