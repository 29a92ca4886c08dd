/**
 * Changes of endpoints, each under the organization's clock row, so that they never interleave with the creation of
 * deliveries.
 */
import type { SchemaFunction } from '../../db/migration.ts'
import { readSql, schemaObject } from '../../db/sql-file.ts'
import {
  lockClockFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
} from '../../journal/functions.ts'
import { insertDeliveriesFunction, newDeliveryType, wakeQueuesFunction } from '../queue/functions.ts'

const sql = (file: string) => readSql(import.meta.url, file)

const addSecretFunction = schemaObject(sql('./add-webhook-secret.sql'))

const uses = [
  lockClockFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
  newDeliveryType,
  insertDeliveriesFunction,
  wakeQueuesFunction,
  addSecretFunction,
]

export const createFunction: SchemaFunction = schemaObject(sql('./create-webhook.sql'), uses)
export const updateFunction: SchemaFunction = schemaObject(sql('./update-webhook.sql'), uses)
export const deleteFunction: SchemaFunction = schemaObject(sql('./delete-webhook.sql'), uses)
export const rotateFunction: SchemaFunction = schemaObject(sql('./rotate-webhook-secret.sql'), uses)
export const dropPreviousFunction: SchemaFunction = schemaObject(sql('./drop-previous-secrets.sql'), uses)
export const pingFunction: SchemaFunction = schemaObject(sql('./ping-webhook.sql'), uses)

export const webhookFunctions: readonly SchemaFunction[] = [
  addSecretFunction,
  createFunction,
  updateFunction,
  deleteFunction,
  rotateFunction,
  dropPreviousFunction,
  pingFunction,
]
