/** The delivery log (specification 11.1): newest first, within its retention, without payloads. */
import { callFunction } from '../../db/call-function.ts'
import type { Database } from '../../db/fair-pool.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import type { Page } from '../../http/list-parameters.ts'
import { lockClockFunction, replayedFunction, storeResponseFunction } from '../../journal/functions.ts'
import type { CallUnderClock } from '../../journal/journal.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import type { EncodedResponse } from '../endpoint/store.ts'
import type { AttemptRow, DeliveryRow } from '../endpoint/webhook.ts'
import { insertDeliveriesFunction, newDeliveryType, wakeQueuesFunction } from '../queue/functions.ts'

const sql = (file: string) => readSql(import.meta.url, file)

const sendAgainFunction: SchemaFunction = schemaObject(sql('./send-again.sql'), [
  lockClockFunction,
  replayedFunction,
  storeResponseFunction,
  newDeliveryType,
  insertDeliveriesFunction,
  wakeQueuesFunction,
])

/** The total is not counted beyond this (specification 11.1). */
const countedAtMost = 10_000

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

const deliveryColumns: string = Object.keys(columns)
  .map((name) => `d.${name}`)
  .join(', ')

/** Statuses to filter by: `undelivered` is pending or failed. */
export const logStatuses = ['pending', 'succeeded', 'failed', 'skipped', 'undelivered'] as const

const parts = [schemaObject(sql('./log-of-endpoint.sql')), schemaObject(sql('./log-of-event.sql'))]

const readLogFunction: SchemaFunction = schemaObject(sql('./read-log.sql'), parts)

const countLogFunction: SchemaFunction = schemaObject(
  fillTemplate(sql('./count-log.sql'), { counted_at_most: String(countedAtMost) }),
  parts,
)

export const logFunctions: readonly SchemaFunction[] = [
  sendAgainFunction,
  ...parts,
  readLogFunction,
  countLogFunction,
]

export interface LogFilter {
  readonly status: string | null
  readonly eventType: string | null
  /** Each exclusive. */
  readonly createdAfter: string | null
  readonly createdBefore: string | null
  readonly eventId: string | null
}

export type DeliveryLog = ReturnType<typeof createDeliveryLog>

export function createDeliveryLog(database: Pick<Database, 'of'>, callUnderClock: CallUnderClock) {
  return {
    /** Null `webhookId`: of all endpoints. Completed rows created before `since`, in milliseconds, are not shown. */
    async page(
      { organizationId, webhookId }: { readonly organizationId: string; readonly webhookId: string | null },
      filter: LogFilter,
      { limit, offset }: Page,
      since: number,
    ) {
      const filters = [
        organizationId,
        webhookId,
        filter.status,
        filter.eventType,
        formatTimestamp(since),
        filter.createdAfter,
        filter.createdBefore,
        filter.eventId,
      ] as const
      const [{ rows }, total] = await Promise.all([
        database.of(organizationId).query<DeliveryRow>(
          `select ${deliveryColumns} from organizations o
               cross join lateral ${readLogFunction.name}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) d where o.organization_id = $1`,
          [...filters, limit + 1, offset],
        ),
        callFunction<string>(database.of(organizationId), countLogFunction, filters),
      ])
      const found = Number(total)
      return {
        rows: rows.slice(0, limit),
        hasMore: rows.length > limit,
        total: Math.min(found, countedAtMost),
        totalIsExact: found <= countedAtMost,
      }
    },

    async read(organizationId: string, webhookId: string, id: string, since: number) {
      const { rows } = await database.of(organizationId).query<DeliveryRow>(
        `select ${deliveryColumns} from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.id = $4
           and (${rowIs.pending} or ${rowIs.completed('$3')} and d.id >= ${firstIdSince('$3')})`,
        [organizationId, webhookId, formatTimestamp(since), id],
      )
      return rows[0] ?? null
    },

    async attempts(organizationId: string, webhookId: string, id: string, { limit, offset }: Page) {
      const { rows } = await database.of(organizationId).query<AttemptRow>(
        // The last attempt is in the delivery's row, unless that already describes another.
        `select a.number, a.at, a.response_status, a.error_code, a.error_message, a.duration_ms, a.response_body
           from attempts a where a.organization_id = $1 and a.delivery_id = $3
         union all
         select d.attempt_count, d.last_attempt_at, d.response_status, d.last_error_code, d.last_error_message,
             d.duration_ms, d.response_body
           from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.id = $3 and d.attempt_count > 0
             and not exists (select 1 from attempts a
               where a.organization_id = $1 and a.delivery_id = $3 and a.number = d.attempt_count)
         order by number desc`,
        [organizationId, webhookId, id],
      )
      return { rows: rows.slice(offset, offset + limit), total: rows.length }
    },

    /** `pending`: the delivery as it then is, the same or a new one of its event. */
    sendAgain: (
      organizationId: string,
      webhookId: string,
      deliveryId: string,
      pending: DeliveryRow,
      options: { now: number; attempts: number; response: EncodedResponse },
    ) =>
      callUnderClock<'done' | 'refused' | 'replayed'>(sendAgainFunction, [
        organizationId,
        webhookId,
        formatTimestamp(options.now),
        deliveryId,
        pending.id === deliveryId ? null : pending.id,
        formatTimestamp(pending.updated_at.getTime()),
        options.attempts,
        options.response,
      ]),

    async isPending(organizationId: string, webhookId: string, eventId: string): Promise<boolean> {
      const { rows } = await database.of(organizationId).query(
        `select 1 from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.event_id = $3
           and d.log_day = 'infinity' limit 1`,
        [organizationId, webhookId, eventId],
      )
      return rows.length > 0
    },
  }
}

/** SQL about the rows of the delivery log, as `d`. */

/** Conditions on a row. `since` is an SQL expression. */
const rowIs = {
  pending: `d.log_day = 'infinity'`,
  completed: (since: string) =>
    `d.log_day >= (${since}::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'`,
  /** The index by status has these alone, so a statement that is to use it must say so. */
  indexedByStatus: `d.status in ('failed', 'skipped')`,
} as const

/** The lowest id created after that time, so that an index on ids suffices. */
const firstIdSince = (since: string): string =>
  `first_uuid_v7(${since}::timestamptz + interval '1 millisecond')`
