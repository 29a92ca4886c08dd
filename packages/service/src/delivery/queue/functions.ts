/** The database functions that create deliveries, wake queues, and find what an endpoint has missed. */
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { finalStatuses } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'

const sql = (file: string) => readSql(import.meta.url, file)

export const newDeliveryType: SchemaFunction = schemaObject(sql('./new-delivery.sql'))

const coalesceFunction: SchemaFunction = schemaObject(sql('./coalesce-deliveries.sql'), [newDeliveryType])

export const insertDeliveriesFunction: SchemaFunction = schemaObject(sql('./insert-deliveries.sql'), [
  newDeliveryType,
  coalesceFunction,
])

export const skipReasonFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaObject(
    fillTemplate(
      sql('./skip-reason.sql'),
      {},
      { kind: tables.map(({ kind, name }) => ({ kind, table: name })) },
    ),
  )

export const eventPatternsFunction: SchemaFunction = schemaObject(sql('./event-patterns.sql'))

/** A commit with more deliveries is large: jobs create them, as its organization can commit nothing meanwhile. */
const createdByCommit = 1_000

/** What the commit function needs for its events, in the order in which it is created. */
export const commitDelivery = (tables: readonly StreamTable[]): readonly SchemaFunction[] => [
  newDeliveryType,
  coalesceFunction,
  insertDeliveriesFunction,
  skipReasonFunction(tables),
  wakeQueuesFunction,
  eventPatternsFunction,
  schemaObject(sql('./active-endpoints.sql')),
  schemaObject(
    fillTemplate(sql('./create-deliveries.sql'), {
      large: String(createdByCommit),
      clocks_apart: String(deliveryTuning.drain.clocksApart),
    }),
    [
      newDeliveryType,
      insertDeliveriesFunction,
      skipReasonFunction(tables),
      wakeQueuesFunction,
      eventPatternsFunction,
    ],
  ),
]

export const wakeQueuesFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './wake-queues.sql'))

export const missedFunction: SchemaFunction = schemaObject(
  fillTemplate(readSql(import.meta.url, './missed-since.sql'), {
    final_statuses: finalStatuses.join(', '),
  }),
)
