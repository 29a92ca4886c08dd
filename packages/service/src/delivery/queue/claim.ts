/**
 * Claims what is due. The statements may miss what a commit adds at that moment; completing looks again, with a later
 * snapshot.
 */
import type { Database } from '../../db/fair-pool.ts'
import type { Queryable } from '../../db/pool.ts'
import { fillTemplate, readSql } from '../../db/sql-file.ts'
import {
  arrayParameter,
  type PreparedStatement,
  queryTextsWhenSent,
  type TextRow,
} from '../../db/text-query.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { endpointBody } from '../endpoints-table.ts'
import type { Claim, ClaimedDelivery, EndpointKey, Lease } from '../model.ts'
import { isPing, readOptions } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import { originOf, readableOrigin } from './origin.ts'
import { type ReadPosition, unread } from './read-position.ts'

const { clocksApart } = deliveryTuning.drain
const { lostInARow, sentAlone } = deliveryTuning.leases

/** Made when a connection is free, so that waiting for one does not shorten the lease. Milliseconds. */
export interface ClaimOptions {
  readonly lease: Lease
  readonly now: number
  readonly limit: number
  /** Default: nothing is known. */
  readonly position?: ReadPosition
}

type ClaimDue = (
  key: EndpointKey,
  options: () => ClaimOptions,
  known?: readonly string[],
) => Promise<Claim | null>

interface DeliveryColumns {
  readonly payload: 'current' | 'stored'
  readonly current: string | null
  readonly delivery: Omit<ClaimedDelivery, 'data'>
}

/** `traced`: also reads the trace that each event was created in. */
export function createClaim(
  database: Database,
  tables: readonly StreamTable[],
  { traced }: { readonly traced: boolean },
): ClaimDue {
  const removals = new Set(tables.flatMap(({ removedEvent }) => removedEvent ?? []))
  /** A manual retry or a recovery sends the payload stored with the event. Removals and pings have only one payload. */
  const isStored = ({ payload, delivery: { event } }: DeliveryColumns) =>
    payload === 'stored' && !isPing(event.type) && !removals.has(event.type)
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
    const [[queue] = [], due = [], [settings] = []] = await queryTextsWhenSent(connection, () => {
      const { lease, now, limit, position = unread } = options()
      leaseId = lease.id
      const at = formatTimestamp(now)
      const key = [organizationId, webhookId, at]
      const kept = formatTimestamp(now + (lease.until - now) / 2)
      const leased = [lease.id, formatTimestamp(lease.until), lease.workerId, kept]
      const { rewinds, readTo } = position
      const from =
        readTo === null ? ['-1', null, null] : [String(rewinds), formatTimestamp(readTo.at), readTo.id]
      const firstAttempts = formatTimestamp(now + clocksApart)
      return [
        [leaseStatement, [...key, ...leased]],
        [deliveriesUpTo(limit), [...key, lease.id, arrayParameter(known), ...from, firstAttempts]],
        [endpointStatement, key],
      ]
    })
    // Another worker holds the queue, nothing is due on it, or the endpoint was deleted.
    if (queue === undefined || settings === undefined) return null
    const [aloneLeft, lostId, lostSince, rewinds, leaseUntil] = queue
    const endpoint = endpointIn(settings)
    const claimed = due.map(deliveryIn)
    const { changedFields = false, includeActor = false } = endpoint.options ?? {}
    const needsEvent = (row: DeliveryColumns) =>
      changedFields || includeActor || isStored(row) || isOfEndpoint(row)
    const events = await readEvents(connection, organizationId, claimed.filter(needsEvent), origin)
    const originIn = ({ origin }: StoredEvent) => readableOrigin(tables, endpoint.scopes ?? [], origin)
    const dataOf = (row: DeliveryColumns) => {
      const { id, type } = row.delivery.event
      if (isPing(type)) return '{}'
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
      endpoint,
      deliveries: claimed.map(deliveryOf),
      aloneLeft: Number(aloneLeft),
      lost: lostId == null ? null : { id: lostId, since: Number(lostSince) },
      rewinds: Number(rewinds),
      leaseUntil: Number(leaseUntil),
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

function endpointIn(row: TextRow): Claim['endpoint'] {
  const [url, disabledReason = null, scopes, secrets, ...others] = row
  const [standard, asymmetric, suspended, text = null, reportedState = null] = others
  const settings = optionsIn(text)
  return {
    url: String(url),
    disabledReason,
    scopes: scopes?.split(' ') ?? null,
    sealedSecrets: secrets?.split(' ').map((hex) => Buffer.from(hex, 'hex')) ?? [],
    standardSignatures: standard != null,
    asymmetricSignature: asymmetric != null,
    held: suspended != null || (disabledReason === null && settings.options?.paused === true),
    reportedState,
    ...settings,
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

const leaseStatement: PreparedStatement = {
  name: 'claim_lease',
  text: fillTemplate(readSql(import.meta.url, './claim-lease.sql'), {
    lost_in_a_row: String(lostInARow),
    sent_alone: String(sentAlone),
  }),
}

const deliveriesTemplate = readSql(import.meta.url, './claim-deliveries.sql')

/** Its columns are in the order in which `deliveryIn` reads them. */
function deliveriesStatement(
  tables: readonly StreamTable[],
  limit: number,
  traced: boolean,
): PreparedStatement {
  const kind = tables.map(({ kind, name, removedEvent }) => ({
    kind,
    table: name,
    removed_event: removedEvent ?? '',
  }))
  const lists = { kind, traced: traced ? [{}] : [] }
  const text = fillTemplate(deliveriesTemplate, { limit: String(limit) }, lists)
  return { name: `claim_deliveries_${limit}${traced ? '_traced' : ''}`, text }
}

/** Its columns are in the order in which `endpointIn` reads them. */
const endpointStatement: PreparedStatement = {
  name: 'claim_endpoint',
  text: readSql(import.meta.url, './claim-endpoint.sql'),
}

/**
 * SQL: the current representation of the subject of delivery `d` of organization `$1`; null when the API would not
 * serve it.
 */
export function currentBody(tables: readonly StreamTable[]): string {
  const current = tables.map(({ kind, name, removedEvent }) => {
    const exists = 't.removed_at is null'
    const readable = removedEvent === null ? exists : `(${exists}) = (d.event_type <> '${removedEvent}')`
    return `when '${kind}' then
        (select t.body from ${name} t where t.organization_id = $1 and t.id = d.subject_id and ${readable})`
  })
  return `case d.subject_kind ${current.join('\n        ')} end`
}
