/**
 * Deliveries to subscriptions of agents (SEP-3415): an endpoint with an owner and an end, whose bodies are occurrences
 * with a cursor of `GET /v1/events`. A client that reads on from that cursor gets every event that was not delivered.
 */
import { OrganizationGone } from '../db/call-function.ts'
import type { Queryable } from '../db/pool.ts'
import { encodeCursor } from '../kernel/cursor.ts'
import { firstIdAt, timeOfId } from '../kernel/ids.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { missedFunction } from './functions.ts'
import type { EndpointKey, Watermark } from './model.ts'
import { type ControlType, controlTypes, dataFor, isControl } from './model.ts'

/** Of cursors of `GET /v1/events`. */
export const eventsResource = 'events'

/** Receivers may refuse larger bodies. */
const largestBody = 262_144

/** `retention`: how far back the delivery log goes, in milliseconds. */
export async function readWatermark(
  db: Queryable,
  { organizationId, webhookId }: EndpointKey,
  { now, retention }: { readonly now: number; readonly retention: number },
): Promise<Watermark> {
  const { rows } = await db.query<{
    epoch: number
    dropped_to: string | null
    head: Date
    pending: readonly string[] | null
    missed: Date | null
    replayed: string | null
    fanned: Date | null
  }>(
    `select c.epoch, c.events_dropped_to as dropped_to, c.last_stamp as head, ${missedFunction.name}($1, $2, $3, $4) as missed,
        array(select d.event_id from deliveries d where d.organization_id = $1 and d.webhook_id = $2
          and d.log_day = 'infinity' and d.event_type not in (${controlTypes}) order by d.event_id limit 2) as pending,
        (select r.position from recoveries r where r.organization_id = $1 and r.webhook_id = $2
          and r.finished_at is null order by r.position limit 1) as replayed,
        (select min(f.stamp) from fan_outs f where f.organization_id = $1 and f.webhook_id = $2) as fanned
      from clocks c where c.organization_id = $1`,
    [organizationId, webhookId, formatTimestamp(now), formatTimestamp(now - retention)],
  )
  const [row] = rows
  if (row === undefined) throw new OrganizationGone(organizationId)
  const { epoch, dropped_to: droppedTo, head, pending, missed, replayed, fanned } = row
  const others = [
    head.getTime() + 1,
    ...(missed === null ? [] : [missed.getTime()]),
    ...(replayed === null ? [] : [timeOfId(replayed)]),
    ...(fanned === null ? [] : [fanned.getTime()]),
  ]
  return {
    epoch,
    droppedTo,
    pending: (pending ?? []).map((id) => ({ id, at: timeOfId(id) })),
    others: Math.min(...others),
  }
}

/** Where to read on. `delivered`: the event that carries the cursor, and so is no longer missing. */
export function cursorAt(
  organizationId: string,
  { epoch, pending, others }: Watermark,
  delivered: string | null = null,
): string {
  const first = pending.find(({ id }) => id !== delivered)
  const at = Math.min(others, first?.at ?? others)
  const position = { at, id: firstIdAt(at) }
  return encodeCursor({ resource: eventsResource, organizationId, epoch, position, removalsAfter: null })
}

interface Reported {
  readonly id: string
  readonly type: string
  readonly createdAt: string
}

/**
 * The body of a delivery to a subscription, thin where it would be too large. `cursor`: null where it is only shown.
 */
export function subscriptionBody(event: Reported, data: string, cursor: string | null): string {
  const { id, type, createdAt } = event
  if (isControl(type) && type !== 'ping') return controlBody(type, cursor)
  const about = `"eventId":"${id}","name":"${type}","timestamp":"${createdAt}"`
  const body = (data: string) => `{${about},"data":${data}${cursor === null ? '' : `,"cursor":"${cursor}"`}}`
  const whole = body(data)
  return Buffer.byteLength(whole) <= largestBody ? whole : body(dataFor({ payload: 'thin' }, data))
}

const accessRevoked = { code: -32_024, message: 'Forbidden', data: { reason: 'Access revoked' } }

function controlBody(type: Exclude<ControlType, 'ping'>, cursor: string | null): string {
  return JSON.stringify(type === 'gap' ? { type, cursor } : { type, error: accessRevoked })
}

/** `webhook-id`: an event's id, or that of a message about the subscription. */
export function messageId({ id, type }: Pick<Reported, 'id' | 'type'>): string {
  return isControl(type) && type !== 'ping' ? `msg_${type}_${id}` : id
}
