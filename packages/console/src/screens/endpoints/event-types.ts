/** The event types of deliveries, and those that endpoints subscribe to. */
import { kinds, eventTypes as subscribable } from '../../generated/lists.ts'

export { subscribable }
export type EventType = (typeof subscribable)[number]

/** No endpoint subscribes to `ping`. */
export const eventTypes = [...subscribable, 'ping'] as const

/** The kinds that have events, each with its types; endpoints have some too. */
export const kindsWithEvents = [...kinds, { name: 'endpoint', plural: 'webhooks' } as const]
  .map((kind) => ({ ...kind, types: subscribable.filter((type) => type.startsWith(`${kind.name}.`)) }))
  .filter(({ types }) => types.length > 0)
