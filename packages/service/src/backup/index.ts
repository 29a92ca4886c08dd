import type { Pool } from 'pg'
import type { Tx } from '../db/transaction.ts'
import { kinds } from '../desk/index.ts'
import type { NewEpoch } from '../journal/epoch.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { logWeeks, makeLogWeek } from '../retention/log-weeks.ts'
import { schemaOf } from '../schema.ts'
import { opensSecrets, replaceKey } from '../webhooks/installation-key.ts'
import type { EncryptionKeys } from '../webhooks/vault.ts'
import { type BackupSummary, writeBackup } from './backup.ts'
import { BackupError } from './format.ts'
import { type CheckedBackup, checkBackup, restoreBackup } from './restore.ts'
import { beginEpochAfterRestore } from './restored.ts'

/** Writes the database to a file, while the service runs. @throws BackupError */
export function backUp(pool: Pool, clock: Clock, file: string): Promise<BackupSummary> {
  const { migrations } = schemaOf()
  const stream = kinds.map(({ table }) => table)
  return writeBackup(pool, { migrations, stream, weeksOf: logWeeks }, { file, clock })
}

/** Reads a backup file completely, without changing anything. @throws BackupError when it cannot be restored. */
export function examineBackup(file: string): Promise<CheckedBackup> {
  return checkBackup(file, schemaOf())
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

export interface RestoreSummary extends NewEpoch {
  readonly file: string
  readonly restoredTo: string
  readonly rows: number
  readonly migrated: readonly string[]
}

/** Restores into a database without tables, in one transaction. @throws BackupError */
export async function restore(
  pool: Pool,
  backup: CheckedBackup,
  { clock, encryptionKey, encryptionKeyPrevious = null, withoutKey }: RestoreOptions,
): Promise<RestoreSummary> {
  let began: NewEpoch | undefined
  const { rows, migrated } = await restoreBackup(pool, backup, {
    schema: schemaOf(),
    makeWeek: makeLogWeek,
    async finish(tx) {
      const keys = encryptionKey === null ? null : { current: encryptionKey, previous: encryptionKeyPrevious }
      if (!withoutKey) await requireKey(tx, keys)
      // With two keys, either may have encrypted a secret: the rotation remains to be finished.
      await replaceKey(tx, keys)
      began = await beginEpochAfterRestore(tx, clock)
    },
  })
  if (began === undefined) throw new Error('the restore was not finished')
  return { file: backup.path, restoredTo: backup.header.createdAt, rows, migrated, ...began }
}

/** Without a matching key no delivery can be signed, which would be noticed too late. */
async function requireKey(tx: Tx, keys: EncryptionKeys | null): Promise<void> {
  if (await opensSecrets(tx, keys)) return
  const wrong = keys === null ? 'and there is no key' : 'and this is another'
  throw new BackupError(
    `the signing secrets of the backup were encrypted with the key of its installation, ${wrong}: put its encryption.key into the data directory, or set DESKWIRE_ENCRYPTION_KEY; with --without-key the desk comes back, and every endpoint needs a new secret`,
  )
}
