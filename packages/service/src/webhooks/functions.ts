/**
 * Changes of endpoints, each under the organization's clock row, so that they never interleave with the creation of
 * deliveries.
 */
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import { insertDeliveriesFunction, newDeliveryType, wakeQueuesFunction } from '../delivery/functions.ts'
import {
  lockClockFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
} from '../journal/functions.ts'
import type { DeliveryRow } from './webhook.ts'

const sql = (file: string) => readSql(import.meta.url, file)

const addSecretFunction = schemaObject(sql('./add-webhook-secret.sql'))
const canSendAgainFunction = schemaObject(sql('./can-send-again.sql'))

const uses = [
  lockClockFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
  newDeliveryType,
  insertDeliveriesFunction,
  wakeQueuesFunction,
  addSecretFunction,
  canSendAgainFunction,
]

export const createFunction: SchemaFunction = schemaObject(sql('./create-webhook.sql'), uses)
export const updateFunction: SchemaFunction = schemaObject(sql('./update-webhook.sql'), uses)
export const deleteFunction: SchemaFunction = schemaObject(sql('./delete-webhook.sql'), uses)
export const rotateFunction: SchemaFunction = schemaObject(sql('./rotate-webhook-secret.sql'), uses)
export const dropPreviousFunction: SchemaFunction = schemaObject(sql('./drop-previous-secrets.sql'), uses)
export const pingFunction: SchemaFunction = schemaObject(sql('./ping-webhook.sql'), uses)
export const retryFunction: SchemaFunction = schemaObject(sql('./retry-delivery.sql'), uses)
export const resendFunction: SchemaFunction = schemaObject(sql('./resend-delivery.sql'), uses)

export const webhookFunctions: readonly SchemaFunction[] = [
  addSecretFunction,
  canSendAgainFunction,
  createFunction,
  updateFunction,
  deleteFunction,
  rotateFunction,
  dropPreviousFunction,
  pingFunction,
  retryFunction,
  resendFunction,
]

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

export const logFunctions: readonly SchemaFunction[] = [...parts, readLogFunction, countLogFunction]
