/** What reads the delivery log, and sends again what is in it. */
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import { lockClockFunction, replayedFunction, storeResponseFunction } from '../../journal/functions.ts'
import type { DeliveryRow } from '../endpoint/webhook.ts'
import { insertDeliveriesFunction, newDeliveryType, wakeQueuesFunction } from '../queue/functions.ts'

const sql = (file: string) => readSql(import.meta.url, file)

const canSendAgainFunction = schemaObject(sql('./can-send-again.sql'))

const uses = [
  lockClockFunction,
  replayedFunction,
  storeResponseFunction,
  newDeliveryType,
  insertDeliveriesFunction,
  wakeQueuesFunction,
  canSendAgainFunction,
]

export const retryFunction: SchemaFunction = schemaObject(sql('./retry-delivery.sql'), uses)
export const resendFunction: SchemaFunction = schemaObject(sql('./resend-delivery.sql'), uses)

/** The total is not counted beyond this (specification 11.1). */
export const countedAtMost = 10_000

const columns: Readonly<Record<keyof DeliveryRow, true>> = {
  id: true,
  webhook_id: true,
  event_id: true,
  event_type: true,
  status: true,
  attempt_count: true,
  max_attempts: true,
  response_status: true,
  last_error_code: true,
  last_error_message: true,
  duration_ms: true,
  last_attempt_at: true,
  next_attempt_at: true,
  delivered_at: true,
  created_at: true,
  updated_at: true,
}

export const deliveryColumns: string = Object.keys(columns)
  .map((name) => `d.${name}`)
  .join(', ')

/** Statuses to filter by: `undelivered` is pending or failed. */
export const logStatuses = ['pending', 'succeeded', 'failed', 'skipped', 'undelivered'] as const

const parts = [schemaObject(sql('./log-of-endpoint.sql')), schemaObject(sql('./log-of-event.sql'))]

export const readLogFunction: SchemaFunction = schemaObject(sql('./read-log.sql'), parts)

export const countLogFunction: SchemaFunction = schemaObject(
  fillTemplate(sql('./count-log.sql'), { counted_at_most: String(countedAtMost) }),
  parts,
)

export const logFunctions: readonly SchemaFunction[] = [
  canSendAgainFunction,
  retryFunction,
  resendFunction,
  ...parts,
  readLogFunction,
  countLogFunction,
]
