/** Claims what is due. The statements may miss what a commit adds at that moment; completing looks again, with a later snapshot. */
import type { Database } from '../db/fair-pool.ts'
import type { Queryable } from '../db/pool.ts'
import {
  arrayParameter,
  milliseconds,
  type PreparedStatement,
  queryTextsWhenSent,
  type TextRow,
} from '../db/text-query.ts'
import { timestampText } from '../journal/body.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { endpointBody, fromEndpoint } from '../webhooks/table/endpoints.ts'
import { isControl } from './control.ts'
import { countLoss } from './leases.ts'
import type { Claim, ClaimedDelivery, EndpointKey, Lease } from './model.ts'
import { readOptions } from './options.ts'
import { originOf, readableOrigin } from './origin.ts'
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

interface EndpointColumns {
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
  const deliveriesUpTo = (limit: number) => {
    const statement = statements.get(limit) ?? deliveriesStatement(tables, limit, traced)
    statements.set(limit, statement)
    return statement
  }
  return async ({ organizationId, webhookId }, options, known = []) => {
    const connection = database.of(organizationId)
    let leaseId = ''
    let claimedAt = 0
    const [[queue] = [], due = [], [settings] = []] = await queryTextsWhenSent(connection, () => {
      const { lease, now, limit } = options()
      leaseId = lease.id
      claimedAt = now
      const at = formatTimestamp(now)
      const leased = [lease.id, formatTimestamp(lease.until), lease.workerId, String(lease.listening)]
      return [
        [leaseStatement, [organizationId, webhookId, at, ...leased]],
        [deliveriesUpTo(limit), [organizationId, webhookId, at, lease.id, arrayParameter(known)]],
        [endpointStatement, [organizationId, webhookId, at]],
      ]
    })
    // Another worker holds the queue, or the endpoint was deleted.
    if (queue === undefined || settings === undefined) return null
    const [aloneLeft, lostId, lostSince] = queue
    const { endpoint, subscriptionId } = endpointIn(settings)
    const claimed = due.map(deliveryIn)
    const { changedFields = false, includeActor = false } = endpoint.options ?? {}
    const needsEvent = (row: DeliveryColumns) =>
      changedFields || includeActor || isStored(row) || isOfEndpoint(row)
    const events = await readEvents(connection, organizationId, claimed.filter(needsEvent), origin)
    const watermark =
      subscriptionId === null || claimed.length === 0
        ? null
        : await readWatermark(connection, { organizationId, webhookId }, { now: claimedAt, retention })
    const originIn = ({ origin }: StoredEvent) => readableOrigin(tables, endpoint.scopes ?? [], origin)
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
      const origin = includeActor && stored !== undefined ? originIn(stored) : null
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
      aloneLeft: Number(aloneLeft),
      lost: lostId == null ? null : { id: lostId, since: Number(lostSince) },
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
    `select e.id, case e.subject_kind when 'endpoint' then ${endpointBody} else e.body end as body, e.changed::text as changed, ${origin} as origin from events_with_body e
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

function endpointIn(row: TextRow): EndpointColumns {
  const [url, disabledReason = null, scopes, secrets, ...others] = row
  const [standard, asymmetric, suspended, options = null, reportedState = null, subscriptionId = null] =
    others
  return {
    endpoint: {
      url: String(url),
      disabledReason,
      scopes: scopes?.split(' ') ?? null,
      sealedSecrets: secrets?.split(' ').map((hex) => Buffer.from(hex, 'hex')) ?? [],
      standardSignatures: standard != null,
      asymmetricSignature: asymmetric != null,
      suspended: suspended != null,
      reportedState,
      ...optionsIn(options),
    },
    subscriptionId,
  }
}

/** As JSON, with the sealed headers in hex before it, separated by a space. */
function optionsIn(text: string | null): Required<Pick<Claim['endpoint'], 'options' | 'sealedHeaders'>> {
  if (text === null) return { options: null, sealedHeaders: null }
  const [sealed = '', json = ''] = text.split(/ (.*)/s)
  return { options: readOptions(json), sealedHeaders: sealed === '' ? null : Buffer.from(sealed, 'hex') }
}

function deliveryIn(row: TextRow): DeliveryColumns {
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
  ] = row
  return {
    payload: payload === 'stored' ? 'stored' : 'current',
    current: current ?? null,
    delivery: {
      id: String(id),
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
 * Leases the queue or prolongs the lease. A lease that ran out counts as lost; a released one is no longer in the row. One of this worker is
 * of a drain that has ended, as it runs one at a time: its release failed, or a crash of the database undid it.
 */
const leaseStatement: PreparedStatement = {
  name: 'lease_queue',
  text: `update endpoint_queues l set lease_id = $4, lease_until = $5, worker_id = $6, listening = $7, due_at = $5,
        ${countLoss('l.lease_id <> $4 and l.worker_id <> $6')}
      where l.organization_id = $1 and l.webhook_id = $2
        and (l.lease_id = $4 or l.worker_id = $6 or l.due_at <= $3 and (l.lease_until is null or l.lease_until <= $3))
      returning l.alone_left, l.alone_id, ${milliseconds('l.alone_since')} as alone_since`,
}

/**
 * The due deliveries of a queue that this lease holds, with the current representations, in the order in which `deliveryIn` reads the
 * columns. A removed subject's representation is its removal record. The limit is part of the text: given as a parameter, PostgreSQL would
 * plan the statement again each time.
 */
function deliveriesStatement(
  tables: readonly StreamTable[],
  limit: number,
  traced: boolean,
): PreparedStatement {
  const text = `select d.id, d.attempt_count, d.attempts_before, d.max_attempts,
      case when d.last_error_code = 'worker_lost' then true end as lost_worker,
      ${milliseconds('d.next_attempt_at')} as due_at, ${milliseconds('d.updated_at')} as updated_at, d.event_id, d.event_type,
      ${timestampText('d.event_created_at')} as event_created_at, d.subject_kind, d.payload,
      ${currentBody(tables)} as current${traced ? traceColumn : ''}
    from deliveries d
    where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity' and d.next_attempt_at <= $3
      and d.id <> all($5::uuid[])
      and exists (select 1 from endpoint_queues l where l.organization_id = $1 and l.webhook_id = $2 and l.lease_id = $4)
    order by d.next_attempt_at, d.id limit ${limit}`
  return { name: `claim_deliveries_${limit}${traced ? '_traced' : ''}`, text }
}

/**
 * The endpoint, in the order in which `endpointIn` reads the columns. Read after the deliveries: an event that came after a change of the
 * endpoint is never sent as the endpoint was before.
 */
const endpointStatement: PreparedStatement = {
  name: 'claim_endpoint',
  text: `select w.url, coalesce(w.disabled_reason, case when w.ends_at <= $3 then 'ended' end) as disabled_reason,
        (select array_to_string(k.scopes, ' ') from api_keys k where k.organization_id = $1 and k.id = w.api_key_id
          and (k.expires_at is null or k.expires_at > $3)) as scopes,
        (select string_agg(encode(s.sealed, 'hex'), ' ' order by s.created_at desc, s.id desc) from webhook_secrets s
          where s.organization_id = $1 and s.webhook_id = $2 and (s.expires_at is null or s.expires_at > $3)) as secrets,
        case when 'standard' = any(w.signatures) then true end as standard,
        case when 'v1a' = any(w.signatures) then true end as asymmetric,
        (select true from organizations o
          where o.organization_id = $1 and (o.suspended_at is not null or o.away is not null)) as suspended,
        case when w.options is not null
          then coalesce(encode(w.sealed_headers, 'hex'), '') || ' ' || w.options end as options,
        w.reported_state, w.subscription_id
      ${fromEndpoint('$1', '$2')}`,
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
