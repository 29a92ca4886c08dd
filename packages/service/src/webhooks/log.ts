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
    delivery: { readonly organizationId: string; readonly webhookId: string; readonly id: string },
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly AttemptRow[]; readonly total: number }>
}

const columns = `d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
  d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at,
  d.delivered_at, d.created_at, d.updated_at`

/**
 * What stands where: in the queue, or in the log as far back as it is shown; `since` names a parameter. An id says when it
 * was made, so that indexes answer alone.
 */
const standing = {
  pending: `d.log_day = 'infinity'`,
  settled: (since: string) =>
    `d.log_day >= (${since}::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
      and d.id >= first_uuid_v7(${since}::timestamptz + interval '1 millisecond')`,
} as const

/**
 * The log as parts that an index has in the order of ids, which is that of `createdAt`: what is pending, and what is
 * settled, in each status that may match when there is a filter.
 */
function partsOf(
  endpoint: { readonly organizationId: string; readonly webhookId: string },
  { status, eventType }: LogFilter,
  since: number,
): { readonly parts: readonly string[]; readonly values: readonly unknown[] } {
  const values: unknown[] = [endpoint.organizationId, endpoint.webhookId]
  const type = eventType === null ? '' : ` and d.event_type = $${values.push(eventType)}`
  const part = (where: string) =>
    `from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and ${where}${type}`
  const pending = part(`${standing.pending} and d.status = 'pending'`)
  if (status === 'pending') return { parts: [pending], values }
  const settled = standing.settled(`$${values.push(formatTimestamp(since))}`)
  const settledAs = (one: string) => part(`${settled} and d.status = '${one}'`)
  if (status !== null) return { parts: [settledAs(status)], values }
  return eventType === null
    ? { parts: [pending, part(settled)], values }
    : { parts: [pending, settledAs('succeeded'), settledAs('failed')], values }
}

export function createDeliveryLog(pool: Pool): DeliveryLog {
  return {
    async page(endpoint, filter, { limit, offset }, since) {
      const { parts, values } = partsOf(endpoint, filter, since)
      const union = (names: string, select: (part: string) => string) =>
        parts.map((part) => `select ${names} from (${select(part)}) d`).join(' union all ')
      const counted = pool.query<{ total: string }>(
        `select count(*) as total from (
          ${union('1', (part) => `select 1 ${part} limit ${countedAtMost + 1}`)} limit ${countedAtMost + 1}) c`,
        [...values],
      )
      const read = pool.query<DeliveryRow>(
        `select ${columns} from (
          ${union(columns, (part) => `select ${columns} ${part} order by d.id desc limit ${offset + limit + 1}`)}) d
          order by d.id desc limit ${limit + 1} offset ${offset}`,
        [...values],
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
        `select ${columns} from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.id = $4
           and (${standing.pending} or ${standing.settled('$3')})`,
        [organizationId, webhookId, formatTimestamp(since), id],
      )
      return rows[0] ?? null
    },

    async attempts({ organizationId, webhookId, id }, { limit, offset }) {
      const { rows } = await pool.query<AttemptRow>(
        // The last one in the delivery's own row, unless that tells of something else by now.
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
  }
}
