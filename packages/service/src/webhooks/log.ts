/** The delivery log (specification, section 4.1): newest first, as far back as it is kept, never a payload. */
import type { Pool } from 'pg'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { AttemptRow, DeliveryRow } from './webhook.ts'

/** Beyond this the total is not counted. */
const countedAtMost = 10_000

export interface LogFilter {
  readonly status: string | null
  readonly eventType: string | null
}

export interface LogPage {
  readonly rows: readonly DeliveryRow[]
  readonly hasMore: boolean
  readonly total: number
  readonly totalIsExact: boolean
}

export interface DeliveryLog {
  /** `since`: rows made before this, in milliseconds, are not shown, pending ones apart. */
  page(
    endpoint: { readonly organizationId: string; readonly webhookId: string },
    filter: LogFilter,
    page: { readonly limit: number; readonly offset: number },
    since: number,
  ): Promise<LogPage>
  read(organizationId: string, webhookId: string, id: string, since: number): Promise<DeliveryRow | null>
  attempts(
    organizationId: string,
    deliveryId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly AttemptRow[]; readonly total: number }>
}

const columns = `d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
  d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at,
  d.delivered_at, d.created_at, d.updated_at`

/** What the log still shows of an endpoint. */
const shown = `d.webhook_id = $2 and (d.created_at > $3 or d.status = 'pending')`

export function createDeliveryLog(pool: Pool): DeliveryLog {
  return {
    async page({ organizationId, webhookId }, { status, eventType }, { limit, offset }, since) {
      const values: unknown[] = [organizationId, webhookId, formatTimestamp(since)]
      const where = [shown]
      if (status !== null) where.push(`d.status = $${values.push(status)}`)
      if (eventType !== null) where.push(`d.event_type = $${values.push(eventType)}`)
      const conditions = where.join(' and ')
      const counted = pool.query<{ total: string }>(
        `select count(*) as total from (
          select 1 from deliveries d where d.organization_id = $1 and ${conditions} limit ${countedAtMost + 1}) c`,
        values,
      )
      const read = pool.query<DeliveryRow>(
        `select ${columns} from deliveries d where d.organization_id = $1 and ${conditions} order by d.created_at desc, d.id desc
           limit $${values.length + 1} offset $${values.length + 2}`,
        [...values, limit + 1, offset],
      )
      const [{ rows }, count] = await Promise.all([read, counted])
      const found = Number(count.rows[0]?.total ?? 0)
      return {
        rows: rows.slice(0, limit),
        hasMore: rows.length > limit,
        total: Math.min(found, countedAtMost),
        totalIsExact: found <= countedAtMost,
      }
    },

    async read(organizationId, webhookId, id, since) {
      const { rows } = await pool.query<DeliveryRow>(
        `select ${columns} from deliveries d where d.organization_id = $1 and ${shown} and d.id = $4`,
        [organizationId, webhookId, formatTimestamp(since), id],
      )
      return rows[0] ?? null
    },

    async attempts(organizationId, deliveryId, { limit, offset }) {
      const { rows } = await pool.query<AttemptRow>(
        `select a.number, a.at, a.response_status, a.error_code, a.error_message, a.duration_ms, a.response_body
           from attempts a where a.organization_id = $1 and a.delivery_id = $2 order by a.number desc`,
        [organizationId, deliveryId],
      )
      return { rows: rows.slice(offset, offset + limit), total: rows.length }
    },
  }
}
