import { carrierSentence } from '../../packages/service/src/kinds/docs/event-carriers.ts'
import { filterNames } from '../../packages/service/src/kinds/http/list-query.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import { madeBy, table } from './markdown.ts'

const access = { write: 'any time', create: 'at creation', read: 'the service' } as const

/** Every kind with its fields: what they accept, who sets them, which events tell of them. */
export function fieldPage(kinds: readonly Kind[]): string {
  return `${madeBy}
# Objects and their fields

Every object also has \`id\` (UUIDv7), \`object\` (its kind), \`organizationId\`, \`createdAt\` and \`updatedAt\`, all set by
the service. A field that is not listed, or not yours to set, is refused (422). The rules that lists, moves and
references follow are in the [specification](../specification.md). No [event](events.md)
reports a change that is *sync only*; it is in the stream like every other.
${kinds.map(section).join('')}`
}

function section(kind: Kind): string {
  const rows = Object.entries(kind.fields).map(([name, field]) => [
    `\`${name}\``,
    field.initial === undefined ? `${access[field.access]}, required` : access[field.access],
    `${field.accepts}${field.nullable && !field.accepts.endsWith('null') ? ' or null' : ''}`,
    [
      field.description,
      field.unique ? 'Unique per organization.' : '',
      field.initial === null || field.initial === undefined || field.access === 'read'
        ? ''
        : `Initially \`${JSON.stringify(field.initial)}\`.`,
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
    carrierSentence(kind, name),
  ])
  return `
## ${kind.name}

${kind.description} \`/v1/${kind.plural}\`, scopes \`${kind.plural}:read\` and \`${kind.plural}:write\`.
${kind.removedEvent === null ? 'It cannot be deleted.' : `Deleting one: \`DELETE /v1/${kind.plural}/{id}\`.`}

${kind.demands === undefined ? '' : `${kind.demands}\n\n`}${table(['field', 'set', 'accepts', 'meaning', 'events'], rows)}

Filters of the list: ${filterNames(kind)
    .map((name) => `\`${name}\``)
    .join(', ')}.
`
}
