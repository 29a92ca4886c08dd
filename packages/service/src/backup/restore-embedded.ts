/** Restores into a new embedded database, which replaces the existing one when it is complete. */
import type { Logger } from 'pino'
import { embedded } from '../db/embedded.ts'
import { createPool, endPool } from '../db/pool.ts'
import { loadEncryptionKey } from '../webhooks/secrets.ts'
import { BackupError } from './format.ts'
import { type CheckedBackup, type RestoreOptions, type RestoreSummary, restore } from './restore.ts'

interface EmbeddedRestoreOptions extends Omit<RestoreOptions, 'encryptionKey' | 'encryptionKeyPrevious'> {
  /** Whether to move an existing database aside. Otherwise there must be none. */
  readonly replace: boolean
  readonly log: Logger
}

/** Restores into a data directory that no service uses. `movedTo`: the earlier database. @throws EmbeddedDatabaseError, BackupError */
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
