/** The schema of an installation: its baseline, the migrations since, and the functions of every room. */

import { buildIndex, type Schema, type SchemaFunction } from './db/migration.ts'
import { readStatements } from './db/sql-file.ts'
import { reportFunction } from './delivery/endpoint/report-endpoints.ts'
import { webhookFunctions } from './delivery/endpoint/store.ts'
import { logFunctions } from './delivery/log/log.ts'
import { beginRecoveryFunction } from './delivery/log/recovery/store.ts'
import {
  archiveAttemptsFunction,
  completeFunction,
  countDeliveriesFunction,
} from './delivery/queue/complete.ts'
import { deliveryJobPieceFunction } from './delivery/queue/delivery-jobs.ts'
import { disableFunction, failPendingFunction, retryNowFunction } from './delivery/queue/endpoint-queues.ts'
import { commitDelivery, missedFunction } from './delivery/queue/functions.ts'
import { disableRegisteredFunction, expireFunction } from './delivery/queue/registrants.ts'
import { kinds as deskKinds } from './desk/index.ts'
import { deskTables } from './desk/tables.ts'
import { storeLoneResponseFunction } from './idempotency/stored-responses.ts'
import { inboxTable } from './inbox/read.ts'
import { commitFunctions } from './journal/commit-function.ts'
import {
  lockClockFunction,
  recordEventFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
} from './journal/functions.ts'
import { createLinkFunction } from './keys/console-links.ts'
import { keyFunctions } from './keys/store.ts'
import type { Kind } from './kinds/model/kind.ts'

/**
 * The tables and functions of the first release, those of kinds apart; docs/schema.sql shows the outcome. A released
 * migration never changes.
 */
const baseline: readonly string[] = [
  './journal/body.sql',
  './db/migrations/baseline/new-uuid-v7.sql',
  './db/migrations/baseline/first-uuid-v7.sql',
  './db/migrations/baseline/event-of-change.sql',
  './db/migrations/baseline/millisecond-after.sql',
  './db/migrations/baseline/search-vector.sql',
  './db/migrations/baseline/organizations.sql',
  './db/migrations/baseline/keys.sql',
  './db/migrations/baseline/events.sql',
  './db/migrations/baseline/endpoints.sql',
  './db/migrations/baseline/deliveries.sql',
  './db/migrations/baseline/jobs.sql',
  './db/migrations/baseline/databases.sql',
].flatMap((file) => readStatements(import.meta.url, file))

/** The schema for an installation with these kinds. */
export function schemaOf(
  kinds: readonly Kind[] = deskKinds,
): Schema & { readonly commitFunction: SchemaFunction } {
  const tables = kinds.map((kind) => kind.table)
  const delivery = commitDelivery(tables)
  const { commit, functions: commitParts } = commitFunctions(tables, delivery)
  return {
    commitFunction: commit,
    migrations: [
      { id: '20261128-03-baseline', statements: [...baseline, ...deskTables, ...inboxTable] },
      {
        id: '20261128-04-coalesced',
        statements: [],
        gradually: {
          indexes: buildIndex(
            'deliveries_pending_waiting',
            `deliveries_pending (organization_id, webhook_id, subject_id)
              where attempt_count = 0 and next_attempt_at > created_at`,
          ),
        },
      },
      ...kinds.flatMap((kind) => kind.migrations),
    ],
    functions: [
      ...delivery,
      ...commitParts,
      archiveAttemptsFunction,
      countDeliveriesFunction,
      lockClockFunction,
      replayedFunction,
      requireSealedWithFunction,
      storeResponseFunction,
      storeLoneResponseFunction,
      completeFunction,
      disableFunction,
      failPendingFunction,
      retryNowFunction,
      recordEventFunction,
      reportFunction(tables),
      deliveryJobPieceFunction(tables),
      disableRegisteredFunction,
      expireFunction,
      ...webhookFunctions,
      ...logFunctions,
      missedFunction,
      beginRecoveryFunction,
      ...keyFunctions,
      createLinkFunction,
    ],
  }
}
