/** The functions that read pages and totals of the delivery log: `read-log.sql` says how. */
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import type { DeliveryRow } from './webhook.ts'

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

const sql = (file: string) => readSql(import.meta.url, file)

const parts = [schemaObject(sql('./log-of-endpoint.sql')), schemaObject(sql('./log-of-event.sql'))]

export const readLogFunction: SchemaFunction = schemaObject(sql('./read-log.sql'), parts)

export const countLogFunction: SchemaFunction = schemaObject(
  fillTemplate(sql('./count-log.sql'), { counted_at_most: String(countedAtMost) }),
  parts,
)

export const logFunctions: readonly SchemaFunction[] = [...parts, readLogFunction, countLogFunction]
