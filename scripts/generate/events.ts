import type { Kind } from '../../packages/service/src/resource/kind.ts'
import { madeBy, table } from './markdown.ts'

/** The event types, in the order of the kinds. */
export function eventPage(kinds: readonly Kind[]): string {
  const rows = kinds.flatMap((kind) =>
    Object.entries(kind.events).map(([type, when]) => [
      `\`${type}\``,
      when,
      type === kind.removedEvent ? 'the removal record' : `the ${kind.name}`,
    ]),
  )
  const silent = kinds.filter((kind) => Object.keys(kind.events).length === 0).map((kind) => kind.plural)
  return `${madeBy}
# Events

An event is recorded in the same commit as the change it tells of: it exists exactly if the change does.

${table(['type', 'sent when', 'data'], [...rows, ['`ping`', 'on request; it cannot be subscribed to', 'an empty object']])}

How to receive them: [webhooks](../guides/webhooks.md).

Changes of ${silent.join(', ')} have no events: follow them with a sync.
`
}
