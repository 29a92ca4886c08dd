import { endpointEvents } from '../../packages/service/src/delivery/endpoint/event-types.ts'
import { kindApi } from '../../packages/service/src/kinds/http/routes.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import { eventSentence } from '../../packages/service/src/openapi/document.ts'
import { madeBy, table } from './markdown.ts'

/** The event types, in the order of the kinds, and which move causes which. */
export function eventPage(kinds: readonly Kind[]): string {
  const ofEndpoints = Object.entries(endpointEvents).map(([type, when]) => [
    `\`${type}\``,
    when,
    'the endpoint as it was then',
  ])
  const rows = kinds.flatMap((kind) =>
    Object.entries(kind.events).map(([type, when]) => [
      `\`${type}\``,
      when,
      type === kind.removedEvent ? 'the removal record' : `the ${kind.name}`,
    ]),
  )
  return `${madeBy}
# Events

An event is recorded in the same commit as the change that it reports: it exists exactly if the change does. One about an
endpoint follows seconds later ([specification 9.7](../specification.md#97-events-about-endpoints)).

${table(['type', 'sent when', 'data'], [...rows, ...ofEndpoints, ['`ping`', 'on request; it cannot be subscribed to', 'an empty object']])}

How to receive them: [webhooks](../guides/webhooks.md).

## Moves and their events

A change marked *sync only* is in the stream like every other, and no event reports it: a copy that must have it
follows the [sync](../guides/sync.md). The event that reports a field is listed in
[objects and fields](fields.md).

${table(
  ['call', 'does', 'events'],
  kinds.flatMap((kind) => moves(kind, kinds)),
)}

Changes that come by themselves: a removed customer leaves conversations, messages and bookings whose \`customerId\` becomes
null, and a message moves its conversation's \`lastMessageAt\`; an inbound one reopens the conversation. These have no event:
sync only.
`
}

function moves(kind: Kind, kinds: readonly Kind[]): string[][] {
  return kindApi(kind, kinds).routes.flatMap(({ method, path, summary, events }) =>
    events === undefined ? [] : [[`\`${method.toUpperCase()} ${path}\``, summary, eventSentence(events())]],
  )
}
