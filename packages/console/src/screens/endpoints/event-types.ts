/** The event types of deliveries, and those that endpoints subscribe to. */
import { kinds, eventTypes as subscribable } from '../../generated/lists.ts'

export { subscribable }
export type EventType = (typeof subscribable)[number]

/** No endpoint subscribes to `ping`. */
export const eventTypes = [...subscribable, 'ping'] as const

/** What an endpoint may be subscribed to: a type, all events of a kind, or all events. */
export type EventPattern = EventType | `${(typeof kinds)[number]['name'] | 'endpoint'}.*` | '*'

/** The types that these subscriptions have. */
export function typesIn(events: readonly string[]): readonly EventType[] {
  return subscribable.filter((type) =>
    [type, `${type.slice(0, type.indexOf('.'))}.*`, '*'].some((pattern) => events.includes(pattern)),
  )
}

function withEvents<K extends { readonly name: string; readonly plural: string }>(subjects: readonly K[]) {
  return subjects
    .map((one) => ({ ...one, types: subscribable.filter((type) => type.startsWith(`${one.name}.`)) }))
    .filter(({ types }) => types.length > 0)
}

/** The kinds that have events, each with its types. */
export const kindsWithEvents = withEvents(kinds)

/** These, and endpoints. `plural`: as in the scope that reads them. */
export const subjectsOfEvents = [
  ...kindsWithEvents,
  ...withEvents([{ name: 'endpoint', plural: 'webhooks' } as const]),
]
