/** The types that endpoints subscribe to, by the kind that they are about: in step with openapi.json by their type. */
import type { paths } from '../../generated/api.ts'

type Filter = NonNullable<NonNullable<paths['/v1/deliveries']['get']['parameters']['query']>['eventType']>

/** A total record: a type that is missing here, or that there is not, does not compile. */
const known: Readonly<Record<Filter, true>> = {
  'customer.created': true,
  'customer.updated': true,
  'customer.deleted': true,
  'conversation.created': true,
  'conversation.assigned': true,
  'conversation.escalated': true,
  'conversation.resolved': true,
  'conversation.summarized': true,
  'message.received': true,
  'message.sent': true,
  'ticket.created': true,
  'ticket.updated': true,
  'ticket.status_changed': true,
  'ticket.assigned': true,
  'ticket.deleted': true,
  'booking.created': true,
  'booking.confirmed': true,
  'booking.rescheduled': true,
  'booking.cancelled': true,
  'booking.completed': true,
  'booking.no_show': true,
  'booking.rejected': true,
  ping: true,
}

/** In the order in which they are documented; `ping` is of no subscription. */
export const eventTypes = Object.keys(known) as readonly Filter[]
export type EventType = Exclude<Filter, 'ping'>
export const subscribable = eventTypes.filter((type): type is EventType => type !== 'ping')

/** `customer`, `conversation`, …, each with its types. */
export const byKind: ReadonlyMap<string, readonly EventType[]> = Map.groupBy(
  subscribable,
  (type) => type.split('.')[0] ?? type,
)
