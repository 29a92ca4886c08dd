/** The schema of an installation: the migrations and functions of every room, in order. */

import { createLinkFunction } from './auth/keys/console-links.ts'
import { keyFunctions } from './auth/keys/functions.ts'
import type { Schema, SchemaFunction } from './db/migration.ts'
import {
  consoleLinkMigrations,
  coreMigrations,
  directoryMigrations,
  keyMigrations,
  restoreMigrations,
} from './db/migrations/core.ts'
import { moveMigrations } from './db/migrations/moves.ts'
import { searchMigrations } from './db/migrations/search.ts'
import {
  deliveryMigrations,
  fanOutMigrations,
  gapMigrations,
  lastAttemptMigrations,
  logWeekMigrations,
  recoveryMigrations,
  sessionRegistrantMigrations,
  signatureMigrations,
  statsMigrations,
  webhookMigrations,
} from './db/migrations/webhooks.ts'
import { completeFunction } from './delivery/complete.ts'
import { disableFunction, failPendingFunction, hastenFunction } from './delivery/endpoint-queues.ts'
import { fanOutFunction } from './delivery/fan-outs.ts'
import { recoverFunction } from './delivery/recoveries.ts'
import { expireFunction } from './delivery/registrants.ts'
import { kinds as deskKinds } from './desk/index.ts'
import { commitFunction } from './journal/commit-function.ts'
import { storeResponseFunction } from './journal/sql-fragments.ts'
import type { Kind } from './kinds/model/kind.ts'
import { summarizerMigrations } from './summarizer/migrations.ts'
import { webhookFunctions } from './webhooks/functions.ts'
import { logFunctions } from './webhooks/log-functions.ts'
import { missedFunction } from './webhooks/missed.ts'
import { recoverFunction as beginRecovery } from './webhooks/recovery.ts'

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
      ...consoleLinkMigrations,
      ...summarizerMigrations,
      ...restoreMigrations,
      ...lastAttemptMigrations,
      ...deliveryMigrations,
      ...signatureMigrations,
      ...statsMigrations,
      ...gapMigrations,
      ...sessionRegistrantMigrations,
      ...searchMigrations,
      ...directoryMigrations,
      ...moveMigrations,
      ...kinds.flatMap((kind) => kind.migrations),
    ],
    functions: [
      commit,
      storeResponseFunction,
      completeFunction,
      disableFunction,
      failPendingFunction,
      hastenFunction,
      recoverFunction,
      fanOutFunction,
      expireFunction,
      ...webhookFunctions,
      ...logFunctions,
      missedFunction,
      beginRecovery,
      ...keyFunctions,
      createLinkFunction,
    ],
  }
}
