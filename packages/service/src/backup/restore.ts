/**
 * Restores into an empty database, in one transaction: the backup's schema and rows, checks of both, then migrations to
 * this release.
 */
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Pool } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Logger } from 'pino'
import { allowStatements } from '../db/client.ts'
import { embedded } from '../db/embedded.ts'
import { applyWithin, migrationLock, provideFunctions } from '../db/migrate.ts'
import { type Migration, type Schema, unknownMigrations } from '../db/migration.ts'
import { notServedOrganizations } from '../db/not-served.ts'
import { createPool, endPool, type Tx, transaction } from '../db/pool.ts'
import { loadEncryptionKey } from '../delivery/endpoint/secrets.ts'
import { type EncryptionKeys, opensSecrets, replaceKey } from '../delivery/endpoint/vault.ts'
import { resumeDeliveries } from '../delivery/queue/leases.ts'
import { beginEpoch, type NewEpoch } from '../journal/epoch.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { makeLogWeek } from '../retention/log-weeks.ts'
import { schemaOf } from '../schema.ts'
import { sessionSettings } from './backup.ts'
import { checkpointsOf } from './checkpoints.ts'
import {
  BackupError,
  type BackupTable,
  type End,
  endSchema,
  type Frame,
  type Header,
  headerSchema,
  parseContent,
  readBackupFile,
  tableSchema,
  verifyBackupFile,
} from './format.ts'
import { columnList, requireNoTables, tablesOf } from './tables.ts'

interface CheckedBackup {
  readonly path: string
  readonly size: number
  readonly header: Header
}

export interface RestoreOptions {
  readonly clock: Clock
  /** The key that encrypted the signing secrets; null when it is not available. */
  readonly encryptionKey: Buffer | null
  /** The second key, if a rotation was not finished. */
  readonly encryptionKeyPrevious?: Buffer | null
  /** Whether to restore even if the key does not open the secrets. */
  readonly withoutKey: boolean
}

interface RestoreSummary extends NewEpoch {
  readonly file: string
  readonly restoredTo: string
  readonly rows: number
  /** Migrations that were applied after the backup. */
  readonly migrated: readonly string[]
}

/**
 * Reads a backup file completely, without changing anything.
 * @throws BackupError when it is not a backup, is damaged, or is of a newer release or from before the first.
 */
export async function examineBackup(
  path: string,
  schema: Pick<Schema, 'migrations'> = schemaOf(),
): Promise<CheckedBackup> {
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

/**
 * Restores a checked backup into a database without tables, in one transaction.
 * @throws BackupError when the database is not empty, the key is another, or the rows differ from the backup.
 */
export async function restore(
  pool: Pool,
  backup: CheckedBackup,
  { clock, encryptionKey, encryptionKeyPrevious = null, withoutKey }: RestoreOptions,
): Promise<RestoreSummary> {
  const keys = encryptionKey === null ? null : { current: encryptionKey, previous: encryptionKeyPrevious }
  return transaction(pool, async (tx) => {
    const restored = await restoreRows(tx, backup)
    if (!withoutKey) await requireKey(tx, keys)
    // With two keys, either may have encrypted a secret: the rotation remains to be finished.
    await replaceKey(tx, keys)
    const began = await beginEpochAfterRestore(tx, clock)
    // Until autovacuum analyzes the tables, plans would be those for empty tables.
    await tx.query('analyze')
    return { file: backup.path, restoredTo: backup.header.createdAt, ...restored, ...began }
  })
}

/** Restores what the backup holds, and migrates it to this schema. */
export async function restoreRows(
  tx: Tx,
  { path, size, header }: CheckedBackup,
  { migrations, functions }: Schema = schemaOf(),
): Promise<Pick<RestoreSummary, 'rows' | 'migrated'>> {
  const inOrder = migrations.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const isRecorded = ({ id }: Migration) => header.migrations.includes(id)
  const later = inOrder.filter((migration) => !isRecorded(migration))
  for (const setting of sessionSettings) await tx.query(`set local ${setting}`)
  allowStatements(tx, 0)
  // A service that starts meanwhile waits, and then finds everything.
  await tx.query(`select pg_advisory_xact_lock(${migrationLock})`)
  await requireNoTables(tx)
  await applyWithin(tx, inOrder.filter(isRecorded))
  for (const week of header.weeks) await makeLogWeek(tx, week)
  const frames = readBackupFile(path, size)
  const end = await fill(tx, frames).finally(() => frames.return(undefined))
  await applyWithin(tx, later)
  await provideFunctions(tx, functions)
  const rows = Object.values(end.rows).reduce((sum, count) => sum + count, 0)
  return { rows, migrated: later.map(({ id }) => id) }
}

/** Without a matching key no delivery can be signed, which would be noticed too late. */
async function requireKey(tx: Tx, keys: EncryptionKeys | null): Promise<void> {
  if (await opensSecrets(tx, keys)) return
  const wrong = keys === null ? 'and there is no key' : 'and this is another'
  throw new BackupError(
    `the signing secrets of the backup were encrypted with the key of its installation, ${wrong}: put its encryption.key into the data directory, or set DESKWIRE_ENCRYPTION_KEY; with --without-key the desk comes back, and every endpoint needs a new secret`,
  )
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

/**
 * Begins a new epoch in a migrated database whose stream may have gone back in time: earlier cursors expire, and so do
 * watermarks in the lost period. Call it once, before the service starts; further calls make every copy start again.
 */
export function markRestored(pool: Pool, clock: Clock): Promise<NewEpoch> {
  return transaction(pool, (tx) => beginEpochAfterRestore(tx, clock))
}

/** The same, in the caller's transaction. */
async function beginEpochAfterRestore(tx: Tx, clock: Clock): Promise<NewEpoch> {
  const now = clock.now()
  const began = await beginEpoch(tx, now)
  await resumeDeliveries(tx, now)
  await endSessions(tx, now)
  return began
}

/** Links that were used and sessions that ended since the backup are unknown, so all are ended. */
async function endSessions(tx: Tx, now: number): Promise<void> {
  await tx.query(
    `update console_links set expires_at = $1
       where expires_at > $1 and organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(now)],
  )
}

interface EmbeddedRestoreOptions extends Omit<RestoreOptions, 'encryptionKey' | 'encryptionKeyPrevious'> {
  /** Whether to move an existing database aside. Otherwise there must be none. */
  readonly replace: boolean
  readonly log: Logger
}

/**
 * Restores into a data directory that no service uses. `movedTo`: the earlier database. @throws EmbeddedDatabaseError,
 * BackupError
 */
export async function restoreEmbedded(
  config: Pick<RestoreOptions, 'encryptionKey' | 'encryptionKeyPrevious'> & { readonly dataDir: string },
  backup: CheckedBackup,
  { replace, log, ...options }: EmbeddedRestoreOptions,
): Promise<RestoreSummary & { readonly movedTo: string | null }> {
  await using replacement = await embedded.startReplacement({
    dataDir: config.dataDir,
    replace,
    log: (level, message, fields) => log[level](fields ?? {}, message),
  })
  const encryptionKey = config.encryptionKey ?? (await keyOf(replacement.dataDir))
  const pool = createPool(replacement.connection, {
    max: 1,
    onIdleError: (error) => log.warn({ reason: error.message }, 'an idle database connection broke'),
  })
  const summary = await restore(pool, backup, {
    ...options,
    encryptionKey,
    encryptionKeyPrevious: config.encryptionKeyPrevious ?? null,
  }).finally(() => endPool(pool))
  const time = new Date(options.clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return { ...summary, movedTo: await replacement.putInPlace(`before-restore-${time}`) }
}

async function keyOf(dataDir: string): Promise<Buffer | null> {
  return loadEncryptionKey(dataDir).catch((error: Error) => {
    throw new BackupError(error.message, { cause: error })
  })
}
