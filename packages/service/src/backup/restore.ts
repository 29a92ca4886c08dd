/** Restores into an empty database, in one transaction: the backup's schema and rows, checks of both, then migrations to this release. */
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Pool } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { applyWithin, migrationLock, provideFunctions } from '../db/migrate.ts'
import { type Schema, unknownMigrations } from '../db/migration.ts'
import { allowStatements } from '../db/pool.ts'
import { type Tx, transaction } from '../db/transaction.ts'
import type { Week } from '../db/weeks.ts'
import { sessionSettings } from './backup.ts'
import { checkpointsOf } from './checkpoints.ts'
import { readBackupFile, verifyBackupFile } from './file.ts'
import {
  BackupError,
  type BackupTable,
  type End,
  endSchema,
  type Frame,
  type Header,
  headerSchema,
  parseContent,
  tableSchema,
} from './format.ts'
import { columnList, requireNoTables, tablesOf } from './tables.ts'

interface RestorePlan {
  readonly schema: Schema
  readonly makeWeek: (tx: Tx, week: Week) => Promise<void>
  /** Called after the migration, as the last part of the transaction. */
  readonly finish: (tx: Tx) => Promise<void>
}

export interface CheckedBackup {
  readonly path: string
  readonly size: number
  readonly header: Header
}

interface Restored {
  readonly rows: number
  readonly organizations: number
  /** Migrations that were applied after the backup. */
  readonly migrated: readonly string[]
}

/** Reads the whole file. @throws BackupError when it is not a backup, is damaged, or is of a newer release or from before the first. */
export async function checkBackup(path: string, schema: Schema): Promise<CheckedBackup> {
  await verifyBackupFile(path)
  const { size } = await stat(path)
  const frames = readBackupFile(path, size)
  const first = await frames.next()
  await frames.return(undefined)
  const header = parseContent(first.value, 'header', headerSchema)
  const unknown = unknownMigrations(schema, header.migrations)
  if (unknown === null) return { path, size, header }
  throw new BackupError(
    unknown.areUnreleased
      ? `${path} was made before the first release of Deskwire, and this version does not read it: restore it with the version that made it`
      : `${path} is of a newer version of Deskwire (${header.version}): it holds the migration ${unknown.ids.join(', ')}; restore it with the version that made it, or a newer one`,
  )
}

/** Restores a checked backup. @throws BackupError when the database is not empty, or the rows differ from the backup. */
export async function restoreBackup(
  pool: Pool,
  { path, size, header }: CheckedBackup,
  { schema, makeWeek, finish }: RestorePlan,
): Promise<Restored> {
  const inOrder = schema.migrations.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const recorded = new Set(header.migrations)
  const later = inOrder.filter(({ id }) => !recorded.has(id))
  const end = await transaction(pool, async (tx) => {
    for (const setting of sessionSettings) await tx.query(`set local ${setting}`)
    allowStatements(tx, 0)
    // A service that starts meanwhile waits, and then finds everything.
    await tx.query(`select pg_advisory_xact_lock(${migrationLock})`)
    await requireNoTables(tx)
    await applyWithin(
      tx,
      inOrder.filter(({ id }) => recorded.has(id)),
    )
    for (const week of header.weeks) await makeWeek(tx, week)
    const frames = readBackupFile(path, size)
    const end = await fill(tx, frames).finally(() => frames.return(undefined))
    await applyWithin(tx, later)
    await provideFunctions(tx, schema.functions)
    await finish(tx)
    // Until autovacuum analyzes the tables, plans would be those for empty tables.
    await tx.query('analyze')
    return end
  })
  return {
    rows: Object.values(end.rows).reduce((sum, count) => sum + count, 0),
    organizations: end.rows.organizations ?? 0,
    migrated: later.map(({ id }) => id),
  }
}

/** Inserts the rows of all tables, and checks them against the backup's counts and checkpoints. */
async function fill(tx: Tx, frames: AsyncGenerator<Frame>): Promise<End> {
  const tables = await tablesOf(tx)
  // Some migrations insert rows; the backup has their current state.
  await tx.query(`truncate ${tables.map((one) => columnList(one).table).join(', ')}`)
  parseContent((await frames.next()).value, 'header', headerSchema)
  const filled = new Map<string, number>()
  let next: Frame | undefined = (await frames.next()).value
  while (next?.type === 'table') {
    const table = parseContent(next, 'table', tableSchema)
    next = undefined
    async function* rows(): AsyncGenerator<Buffer> {
      for (;;) {
        const { value } = await frames.next()
        if (value?.type !== 'rows') {
          next = value
          return
        }
        yield value.content
      }
    }
    filled.set(table.name, await copyIn(tx, table, rows()))
  }
  const end = parseContent(next, 'end', endSchema)
  requireSame(
    'rows',
    tables.map(({ name }) => [name, filled.get(name)]),
    tables.map(({ name }) => [name, end.rows[name]]),
  )
  const stream = [...new Set(end.checkpoints.map(({ table }) => table))]
  requireSame('checkpoints', await checkpointsOf(tx, stream), end.checkpoints)
  return end
}

async function copyIn(tx: Tx, one: BackupTable, rows: AsyncIterable<Buffer>): Promise<number> {
  const { table, columns } = columnList(one)
  const into = tx.query(copyFrom(`copy ${table} (${columns}) from stdin`))
  await pipeline(rows, into)
  return into.rowCount
}

function requireSame(what: string, found: readonly unknown[], wanted: readonly unknown[]): void {
  const differing = wanted.findIndex((one, n) => JSON.stringify(one) !== JSON.stringify(found[n]))
  if (differing === -1 && found.length === wanted.length) return
  throw new BackupError(
    `the restored ${what} are not those of the backup (${JSON.stringify(wanted[differing])} became ${JSON.stringify(found[differing])}): nothing was changed; use another backup, and report this`,
  )
}
