/** The exports for commands: loading these takes half as long as loading everything. */

export { EmbeddedDatabaseError } from '@deskwire/embedded-postgres'
export { scopeNames } from './auth/scopes.ts'
export { backUp } from './backup/backup.ts'
export { BackupError } from './backup/format.ts'
export { examineBackup, markRestored, restore, restoreEmbedded } from './backup/restore.ts'
export { type Config, flagOf, readConfig, settings, settingsHelp } from './config.ts'
export { readDatabaseClock } from './db/clock.ts'
export { DatabasesError } from './db/databases.ts'
export { embedded } from './db/embedded.ts'
export { explainDatabaseFailure } from './db/failure.ts'
export { MigrationError, migrate } from './db/migrate.ts'
export { openDatabaseBeside } from './db/open.ts'
export { PoolerError } from './db/pooler.ts'
export { KeyRotationError, rotateEncryptionKey } from './delivery/endpoint/key-rotation.ts'
export { loadEncryptionKey } from './delivery/endpoint/secrets.ts'
export * from './desk-kinds.ts'
export { type Examination, examine } from './doctor/examine.ts'
export { type Finding, type Verdict, verdictOf } from './doctor/finding.ts'
export {
  type Installation,
  InstallationError,
  leastFull,
  migrateDatabase,
  openInstallation,
} from './installation.ts'
export { createLog } from './kernel/log.ts'
export type { KeyRecord } from './keys/api-key.ts'
export { listKeys, revokeKey } from './keys/operator.ts'
export { proposeMoves, readLoad } from './moves/balance.ts'
export {
  changeEverywhere,
  deleteEverywhere,
  type ListedOrganization,
  listEverywhere,
  UnfinishedError,
} from './moves/everywhere.ts'
export { abortMove, type Databases, dropSource, MoveError, moveOrganization } from './moves/move.ts'
export { createApiKey, createOrganization, type NewKey } from './organization/create.ts'
export { DeletionError, deleteOrganization } from './organization/deletion.ts'
export { listOrganizations, type OrganizationStatus } from './organization/organization.ts'
export type { SuspensionOutcome } from './organization/suspension.ts'
export { schemaOf } from './schema.ts'
