/**
 * Taking a lane: lease, endpoint, claim and bodies in one statement. What a commit adds at that very moment the statement
 * may not see, though the lane was woken for it; settling looks again, with a later snapshot.
 */
import type { Queryable } from '../db/pool.ts'
import {
  arrayParameter,
  milliseconds,
  type PreparedStatement,
  queryTextWhenSent,
  type TextRow,
} from '../db/text-query.ts'
import { timestampText } from '../journal/body.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Lanes, TakenDelivery } from './lanes.ts'

/** What a row says of the endpoint, which one row does. */
interface EndpointColumns {
  readonly url: string
  readonly disabledReason: string | null
  /** Separated by spaces, as the secrets are. */
  readonly scopes: string | null
  readonly secrets: string | null
}

interface DeliveryColumns {
  readonly id: string
  readonly attemptCount: number
  readonly maxAttempts: number
  readonly dueAt: number
  readonly updatedAt: number
  readonly eventId: string
  readonly eventType: string
  readonly eventCreatedAt: string
  readonly subjectKind: string
  readonly payload: 'current' | 'stored'
  readonly current: string | null
}

/** The statement for one limit is made once: see `takeStatement`. */
export function createTake(pool: Queryable, tables: readonly StreamTable[]): Lanes['take'] {
  const removals = new Set(tables.flatMap(({ removedEvent }) => removedEvent ?? []))
  /** A manual retry sends what was stored with the event; a removal and a ping have nothing but what they always had. */
  const isStored = ({ payload, eventType }: DeliveryColumns) =>
    payload === 'stored' && eventType !== 'ping' && !removals.has(eventType)
  const statements = new Map<number, PreparedStatement>()
  const statementFor = (limit: number) => {
    const statement = statements.get(limit) ?? takeStatement(tables, limit)
    statements.set(limit, statement)
    return statement
  }
  return async ({ organizationId, webhookId }, taking, known = []) => {
    let leaseId = ''
    const rows = await queryTextWhenSent(pool, () => {
      const { lease, now, limit } = taking()
      leaseId = lease.id
      const values = [
        organizationId,
        webhookId,
        lease.id,
        formatTimestamp(now),
        formatTimestamp(lease.until),
        lease.workerId,
        String(lease.listening),
        arrayParameter(known),
      ]
      return [statementFor(limit), values]
    })
    const endpoint = endpointIn(rows)
    if (endpoint === null) return null
    const taken = rows.flatMap((row) => deliveryIn(row) ?? [])
    const stored = await storedPayloads(pool, organizationId, taken.filter(isStored))
    const dataOf = (row: DeliveryColumns) => {
      if (row.eventType === 'ping') return '{}'
      // Nothing is sent of what the API would not serve, whatever was stored of it.
      return row.current !== null && isStored(row) ? (stored.get(row.eventId) ?? null) : row.current
    }
    return {
      organizationId,
      webhookId,
      leaseId,
      endpoint: {
        url: endpoint.url,
        disabledReason: endpoint.disabledReason,
        scopes: endpoint.scopes?.split(' ') ?? null,
        sealedSecrets: endpoint.secrets?.split(' ').map((hex) => Buffer.from(hex, 'hex')) ?? [],
      },
      deliveries: taken.map((row) => takenDelivery(row, dataOf(row))),
    }
  }
}

/** The stored payloads of these deliveries' events, by the event's id. Few deliveries need one. */
async function storedPayloads(pool: Queryable, organizationId: string, taken: readonly DeliveryColumns[]) {
  if (taken.length === 0) return new Map<string, string | null>()
  const { rows } = await pool.query<{ id: string; body: string | null }>(
    'select e.id, e.body from events e where e.organization_id = $1 and e.id = any($2)',
    [organizationId, taken.map(({ eventId }) => eventId)],
  )
  return new Map(rows.map(({ id, body }) => [id, body]))
}

function takenDelivery(row: DeliveryColumns, data: string | null): TakenDelivery {
  return {
    id: row.id,
    attemptCount: row.attemptCount,
    maxAttempts: row.maxAttempts,
    dueAt: row.dueAt,
    updatedAt: row.updatedAt,
    event: {
      id: row.eventId,
      type: row.eventType,
      createdAt: row.eventCreatedAt,
      subjectKind: row.subjectKind,
    },
    data,
  }
}

/** Null when the lane was not taken. */
function endpointIn(rows: readonly TextRow[]): EndpointColumns | null {
  for (const [url, disabledReason = null, scopes = null, secrets = null] of rows) {
    if (url != null) return { url, disabledReason, scopes, secrets }
  }
  return null
}

/** Those that `endpointIn` reads, before those of the delivery. */
const columnsOfEndpoint = 4

/** Null where nothing is due: then there is one row, of the endpoint. */
function deliveryIn(row: TextRow): DeliveryColumns | null {
  const [
    id,
    attempts,
    mostAttempts,
    dueAt,
    updatedAt,
    eventId,
    eventType,
    eventCreatedAt,
    subjectKind,
    payload,
    current,
  ] = row.slice(columnsOfEndpoint)
  if (id == null) return null
  return {
    id,
    attemptCount: Number(attempts),
    maxAttempts: Number(mostAttempts),
    dueAt: Number(dueAt),
    updatedAt: Number(updatedAt),
    eventId: String(eventId),
    eventType: String(eventType),
    eventCreatedAt: String(eventCreatedAt),
    subjectKind: String(subjectKind),
    payload: payload === 'stored' ? 'stored' : 'current',
    current: current ?? null,
  }
}

/**
 * Lease, claim and bodies in one statement; what is sent is read from the subject's own table, for a removal the record
 * that stands there in its place. The columns are those that `endpointIn` and `deliveryIn` read, in their order; those of
 * the endpoint stand in one row. The limit is part of the text: as a parameter the planner does not know it, and plans
 * anew each time.
 */
function takeStatement(tables: readonly StreamTable[], limit: number): PreparedStatement {
  const current = tables.map(({ kind, name, removedEvent }) => {
    const exists = 't.removed_at is null'
    const readable = removedEvent === null ? exists : `(${exists}) = (d.event_type <> '${removedEvent}')`
    return `when '${kind}' then
        (select t.body from ${name} t where t.organization_id = $1 and t.id = d.subject_id and ${readable})`
  })
  // Of the endpoint once, not with each of its deliveries.
  const once = (value: string) => `case when coalesce(d.place, 1) = 1 then ${value} end`
  const text = `with leased as (
      update lanes l set lease_id = $3, lease_until = $5, worker_id = $6, listening = $7, due_at = $5
        where l.organization_id = $1 and l.webhook_id = $2
          and (l.lease_id = $3 or l.due_at <= $4 and (l.lease_until is null or l.lease_until <= $4))
        returning l.webhook_id)
    select ${once('w.url')} as url, ${once('w.disabled_reason')} as disabled_reason,
      ${once(`(select array_to_string(k.scopes, ' ') from api_keys k where k.organization_id = $1 and k.id = w.api_key_id
        and (k.expires_at is null or k.expires_at > $4))`)} as scopes,
      ${once(`(select string_agg(encode(s.sealed, 'hex'), ' ' order by s.created_at desc, s.id desc) from webhook_secrets s
        where s.organization_id = $1 and s.webhook_id = $2 and (s.expires_at is null or s.expires_at > $4))`)} as secrets,
      d.id, d.attempt_count, d.max_attempts, ${milliseconds('d.next_attempt_at')} as due_at,
      ${milliseconds('d.updated_at')} as updated_at, d.event_id, d.event_type,
      ${timestampText('d.event_created_at')} as event_created_at, d.subject_kind, d.payload,
      case d.subject_kind ${current.join('\n        ')} end as current
    from leased l
    join webhooks w on w.organization_id = $1 and w.id = l.webhook_id
    left join lateral (
      select d.id, d.attempt_count, d.max_attempts, d.next_attempt_at, d.updated_at, d.event_id, d.event_type,
          d.event_created_at, d.subject_kind, d.subject_id, d.payload, row_number() over (order by d.next_attempt_at, d.id) as place
        from deliveries d
        where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity' and d.next_attempt_at <= $4
          and d.id <> all($8::uuid[])
        order by d.next_attempt_at, d.id limit ${limit}) d on true`
  return { name: `take_lane_${limit}`, text }
}
