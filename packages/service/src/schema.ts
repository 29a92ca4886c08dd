/** The schema of an installation: the migrations and functions of every room, in order. */
import type { Schema, SchemaFunction } from './db/migration.ts'
import { coreMigrations } from './db/migrations/core.ts'
import { deliveryMigrations } from './db/migrations/deliveries.ts'
import { fanOutMigrations } from './db/migrations/fan-outs.ts'
import { keyMigrations } from './db/migrations/keys.ts'
import { lastAttemptMigrations } from './db/migrations/last-attempts.ts'
import { logWeekMigrations } from './db/migrations/log-weeks.ts'
import { recoveryMigrations } from './db/migrations/recoveries.ts'
import { restoreMigrations } from './db/migrations/restores.ts'
import { searchMigrations } from './db/migrations/search.ts'
import { webhookMigrations } from './db/migrations/webhooks.ts'
import { completeFunction } from './delivery/complete.ts'
import { disableFunction, failPendingFunction } from './delivery/endpoint-queues.ts'
import { fanOutFunction } from './delivery/fan-outs.ts'
import { recoverFunction } from './delivery/recoveries.ts'
import { expireFunction } from './delivery/registrants.ts'
import { commitFunction } from './journal/commit-function.ts'
import { keepAnswerFunction } from './journal/kept-answers.ts'
import { keyFunctions } from './keys/functions.ts'
import type { Kind } from './resource/kind.ts'
import { kinds as deskKinds } from './resources/index.ts'
import { summarizerMigrations } from './summarizer/migrations.ts'
import { webhookFunctions } from './webhooks/functions.ts'
import { logFunctions } from './webhooks/log-functions.ts'
import { recoverFunction as beginRecovery } from './webhooks/recovery-functions.ts'

/** What a database needs for an installation with these kinds. */
export function schemaOf(
  kinds: readonly Kind[] = deskKinds,
): Schema & { readonly commitFunction: SchemaFunction } {
  const commit = commitFunction(kinds.map((kind) => kind.table))
  return {
    commitFunction: commit,
    migrations: [
      ...coreMigrations,
      ...webhookMigrations,
      ...logWeekMigrations,
      ...recoveryMigrations,
      ...fanOutMigrations,
      ...keyMigrations,
      ...summarizerMigrations,
      ...restoreMigrations,
      ...lastAttemptMigrations,
      ...deliveryMigrations,
      ...searchMigrations,
      ...kinds.flatMap((kind) => kind.migrations),
    ],
    functions: [
      commit,
      keepAnswerFunction,
      completeFunction,
      disableFunction,
      failPendingFunction,
      recoverFunction,
      fanOutFunction,
      expireFunction,
      ...webhookFunctions,
      ...logFunctions,
      beginRecovery,
      ...keyFunctions,
    ],
  }
}
