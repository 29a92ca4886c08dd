/** Changes of endpoints, each under the organization's clock row, so that they never interleave with the creation of deliveries. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'
import { insertDeliveriesFunction, newDeliveryType } from '../delivery/create-deliveries.ts'
import { missedFunction } from '../delivery/missed.ts'
import { wakeQueuesFunction } from '../delivery/wake-queues.ts'
import { lockClockFunction } from '../journal/lock-clock.ts'
import { replayedFunction, requireSealedWithFunction, storeResponseFunction } from '../journal/responses.ts'

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
  missedFunction,
  addSecretFunction,
  canSendAgainFunction,
]

export const createFunction: SchemaFunction = schemaObject(sql('./create-webhook.sql'), uses)
export const refreshFunction: SchemaFunction = schemaObject(sql('./refresh-subscription.sql'), uses)
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
  refreshFunction,
  updateFunction,
  deleteFunction,
  rotateFunction,
  dropPreviousFunction,
  pingFunction,
  retryFunction,
  resendFunction,
]
