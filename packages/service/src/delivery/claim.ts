/** Claims what is due. The statement may miss what a commit adds at that moment; completing looks again, with a later snapshot. */
import type { Database } from '../db/fair-pool.ts'
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
import { endpointBody, joinEndpoint } from '../webhooks/table/endpoints.ts'
import { isControl } from './control.ts'
import { countLoss } from './leases.ts'
import type { Claim, ClaimedDelivery, EndpointKey, Lease } from './model.ts'
import { readOptions } from './options.ts'
import { originOf } from './origin.ts'
import { readWatermark } from './subscription.ts'

/** Evaluated when a connection is free, so that waiting for one does not shorten the lease. Milliseconds. */
interface ClaimOptions {
  readonly lease: Lease
  readonly now: number
  readonly limit: number
}

export type ClaimDue = (
  key: EndpointKey,
  options: () => ClaimOptions,
  known?: readonly string[],
) => Promise<Claim | null>

/** The endpoint, which only the first row has. */
interface EndpointColumns extends Pick<Claim, 'aloneLeft' | 'lost'> {
  readonly endpoint: Omit<Claim['endpoint'], 'subscription'>
  readonly subscriptionId: string | null
}

interface DeliveryColumns {
  readonly payload: 'current' | 'stored'
  readonly current: string | null
  readonly delivery: Omit<ClaimedDelivery, 'data'>
}

/** `traced`: also reads the trace that each event was created in. */
export function createClaim(
  database: Database,
  tables: readonly StreamTable[],
  { traced, retention }: { readonly traced: boolean; readonly retention: number },
): ClaimDue {
  const removals = new Set(tables.flatMap(({ removedEvent }) => removedEvent ?? []))
  /** A manual retry sends the payload stored with the event. Removals and pings have only one payload. */
  const isStored = ({ payload, delivery: { event } }: DeliveryColumns) =>
    payload === 'stored' && !isControl(event.type) && !removals.has(event.type)
  const isOfEndpoint = ({ delivery: { event } }: DeliveryColumns) => event.subjectKind === 'endpoint'
  const origin = originOf(tables)
  const statements = new Map<number, PreparedStatement>()
  const statementFor = (limit: number) => {
    const statement = statements.get(limit) ?? claimStatement(tables, limit, traced)
    statements.set(limit, statement)
    return statement
  }
  return async ({ organizationId, webhookId }, options, known = []) => {
    const connection = database.of(organizationId)
    let leaseId = ''
    let claimedAt = 0
    const rows = await queryTextWhenSent(connection, () => {
      const { lease, now, limit } = options()
      leaseId = lease.id
      claimedAt = now
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
    const first = endpointIn(rows)
    if (first === null) return null
    const { endpoint, subscriptionId, aloneLeft, lost } = first
    const claimed = rows.flatMap((row) => deliveryIn(row) ?? [])
    const { changedFields = false, includeActor = false } = endpoint.options ?? {}
    const needsEvent = (row: DeliveryColumns) =>
      changedFields || includeActor || isStored(row) || isOfEndpoint(row)
    const events = await readEvents(connection, organizationId, claimed.filter(needsEvent), origin)
    const watermark =
      subscriptionId === null || claimed.length === 0
        ? null
        : await readWatermark(connection, { organizationId, webhookId }, { now: claimedAt, retention })
    const dataOf = (row: DeliveryColumns) => {
      const { id, type } = row.delivery.event
      if (isControl(type)) return '{}'
      if (isOfEndpoint(row)) return events.get(id)?.body ?? null
      // A subject that the API would not serve is not sent, even if the event stored it.
      return row.current !== null && isStored(row) ? (events.get(id)?.body ?? null) : row.current
    }
    const deliveryOf = (row: DeliveryColumns): ClaimedDelivery => {
      const { event, ...delivery } = row.delivery
      const stored = events.get(event.id)
      const changed = (changedFields && stored?.changed) || null
      const origin = (includeActor && stored?.origin) || null
      return { ...delivery, event: { ...event, changed, origin }, data: dataOf(row) }
    }
    return {
      organizationId,
      webhookId,
      leaseId,
      endpoint:
        subscriptionId === null || watermark === null
          ? endpoint
          : { ...endpoint, subscription: { id: subscriptionId, watermark } },
      deliveries: claimed.map(deliveryOf),
      aloneLeft,
      lost,
    }
  }
}

/** What only the events' own rows have: payloads as they were, which fields changed, and who caused them, as JSON. */
async function readEvents(
  pool: Queryable,
  organizationId: string,
  claimed: readonly DeliveryColumns[],
  origin: string,
) {
  if (claimed.length === 0) return new Map<string, StoredEvent>()
  const { rows } = await pool.query<StoredEvent & { readonly id: string }>(
    `select e.id, case e.subject_kind when 'endpoint' then ${endpointBody} else e.body end as body, e.changed::text as changed, ${origin} as origin from events e
       where e.organization_id = $1 and e.id = any($2)`,
    [organizationId, claimed.map(({ delivery }) => delivery.event.id)],
  )
  return new Map(rows.map(({ id, ...event }) => [id, event]))
}

interface StoredEvent {
  readonly body: string | null
  readonly changed: string | null
  readonly origin: string | null
}

/** Null when another worker holds the queue. */
function endpointIn(rows: readonly TextRow[]): EndpointColumns | null {
  for (const row of rows) {
    const [url, disabledReason = null, scopes, secrets, ...others] = row
    const [standard, asymmetric, left, lostId, lostSince, suspended, options = null, subscriptionId = null] =
      others
    if (url == null) continue
    return {
      endpoint: {
        url,
        disabledReason,
        scopes: scopes?.split(' ') ?? null,
        sealedSecrets: secrets?.split(' ').map((hex) => Buffer.from(hex, 'hex')) ?? [],
        standardSignatures: standard != null,
        asymmetricSignature: asymmetric != null,
        suspended: suspended != null,
        ...optionsIn(options),
      },
      subscriptionId,
      aloneLeft: Number(left),
      lost: lostId == null ? null : { id: lostId, since: Number(lostSince) },
    }
  }
  return null
}

/** As JSON, with the sealed headers in hex before it, separated by a space. */
function optionsIn(text: string | null): Required<Pick<Claim['endpoint'], 'options' | 'sealedHeaders'>> {
  if (text === null) return { options: null, sealedHeaders: null }
  const [sealed = '', json = ''] = text.split(/ (.*)/s)
  return { options: readOptions(json), sealedHeaders: sealed === '' ? null : Buffer.from(sealed, 'hex') }
}

const columnsOfEndpoint = 12

/** Null when nothing is due: the one row then has only the endpoint. */
function deliveryIn(row: TextRow): DeliveryColumns | null {
  const [
    id,
    attempts,
    attemptsBefore,
    mostAttempts,
    lostWorker,
    dueAt,
    updatedAt,
    eventId,
    eventType,
    eventCreatedAt,
    subjectKind,
    payload,
    current,
    traceContext,
  ] = row.slice(columnsOfEndpoint)
  if (id == null) return null
  return {
    payload: payload === 'stored' ? 'stored' : 'current',
    current: current ?? null,
    delivery: {
      id,
      attemptCount: Number(attempts),
      attemptsBefore: Number(attemptsBefore),
      maxAttempts: Number(mostAttempts),
      lostWorker: lostWorker != null,
      dueAt: Number(dueAt),
      updatedAt: Number(updatedAt),
      event: {
        id: String(eventId),
        type: String(eventType),
        createdAt: String(eventCreatedAt),
        subjectKind: String(subjectKind),
        traceContext: traceContext ?? null,
      },
    },
  }
}

/**
 * Leases the queue and reads endpoint, deliveries and current representations in one statement, in the order in which `endpointIn` and
 * `deliveryIn` read the columns. A removed subject's representation is its removal record. The limit is part of the text: given as a
 * parameter, PostgreSQL would plan the statement again each time. A lease that ran out counts as lost; a released one is no longer in the
 * row.
 */
function claimStatement(tables: readonly StreamTable[], limit: number, traced: boolean): PreparedStatement {
  const once = (value: string) => `case when coalesce(d.place, 1) = 1 then ${value} end`
  const text = `with leased as (
      update lanes l set lease_id = $3, lease_until = $5, worker_id = $6, listening = $7, due_at = $5,
          ${countLoss('l.lease_id <> $3')}
        where l.organization_id = $1 and l.webhook_id = $2
          and (l.lease_id = $3 or l.due_at <= $4 and (l.lease_until is null or l.lease_until <= $4))
        returning l.webhook_id, l.alone_left, l.alone_id, l.alone_since)
    select ${once('w.url')} as url, ${once("coalesce(w.disabled_reason, case when w.ends_at <= $4 then 'ended' end)")} as disabled_reason,
      ${once(`(select array_to_string(k.scopes, ' ') from api_keys k where k.organization_id = $1 and k.id = w.api_key_id
        and (k.expires_at is null or k.expires_at > $4))`)} as scopes,
      ${once(`(select string_agg(encode(s.sealed, 'hex'), ' ' order by s.created_at desc, s.id desc) from webhook_secrets s
        where s.organization_id = $1 and s.webhook_id = $2 and (s.expires_at is null or s.expires_at > $4))`)} as secrets,
      case when coalesce(d.place, 1) = 1 and 'standard' = any(w.signatures) then true end as standard,
      case when coalesce(d.place, 1) = 1 and 'v1a' = any(w.signatures) then true end as asymmetric,
      ${once('l.alone_left')} as alone_left, ${once('l.alone_id')} as alone_id,
      ${once(milliseconds('l.alone_since'))} as alone_since,
      ${once('(select true from organizations o where o.organization_id = $1 and (o.suspended_at is not null or o.away is not null))')} as suspended,
      case when coalesce(d.place, 1) = 1 and w.options is not null
        then coalesce(encode(w.sealed_headers, 'hex'), '') || ' ' || w.options end as options,
      ${once('w.subscription_id')} as subscription_id,
      d.id, d.attempt_count, d.attempts_before, d.max_attempts, d.lost_worker, ${milliseconds('d.next_attempt_at')} as due_at,
      ${milliseconds('d.updated_at')} as updated_at, d.event_id, d.event_type,
      ${timestampText('d.event_created_at')} as event_created_at, d.subject_kind, d.payload,
      ${currentBody(tables)} as current${traced ? traceColumn : ''}
    from leased l
    ${joinEndpoint('$1', 'l.webhook_id')}
    left join lateral (
      select d.id, d.attempt_count, d.attempts_before, d.max_attempts,
          case when d.last_error_code = 'worker_lost' then true end as lost_worker, d.next_attempt_at, d.updated_at, d.event_id, d.event_type,
          d.event_created_at, d.subject_kind, d.subject_id, d.payload, row_number() over (order by d.next_attempt_at, d.id) as place
        from deliveries d
        where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity' and d.next_attempt_at <= $4
          and d.id <> all($8::uuid[])
        order by d.next_attempt_at, d.id limit ${limit}) d on true`
  return { name: `claim_deliveries_${limit}${traced ? '_traced' : ''}`, text }
}

/** SQL: the current representation of the subject of delivery `d` of organization `$1`; null when the API would not serve it. */
export function currentBody(tables: readonly StreamTable[]): string {
  const current = tables.map(({ kind, name, removedEvent }) => {
    const exists = 't.removed_at is null'
    const readable = removedEvent === null ? exists : `(${exists}) = (d.event_type <> '${removedEvent}')`
    return `when '${kind}' then
        (select t.body from ${name} t where t.organization_id = $1 and t.id = d.subject_id and ${readable})`
  })
  return `case d.subject_kind ${current.join('\n        ')} end`
}

const traceColumn = `,
      (select e.trace_context from events e where e.organization_id = $1 and e.id = d.event_id) as trace_context`
