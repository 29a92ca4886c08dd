import { webhookShapes } from '../../packages/service/src/delivery/endpoint/endpoints.ts'
import { createEventTypes } from '../../packages/service/src/delivery/endpoint/event-types.ts'
import {
  attemptFields,
  deliveryErrorCodes,
  deliveryFields,
  recoveryFields,
  secretField,
  statsFields,
  webhookFields,
} from '../../packages/service/src/delivery/endpoint/records.ts'
import { maxSteps, stepLengths } from '../../packages/service/src/delivery/endpoint/stats.ts'
import { recoveryShape } from '../../packages/service/src/delivery/log/recovery/store.ts'
import { maxWords } from '../../packages/service/src/kernel/fields/fields.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import type { ShownField } from '../../packages/service/src/openapi/field-schemas.ts'
import { madeBy, table } from './markdown.ts'

/** Fields of endpoints, deliveries, attempts and recoveries, and the codes of failed attempts. */
export function webhookPage(kinds: readonly Kind[]): string {
  const types = createEventTypes(kinds).subscribable
  const { creation, change } = webhookShapes(types)
  const yours = Object.entries(change.fields).map(([name, { accepts, description, nullable, initial }]) => [
    `\`${name}\``,
    name in creation.fields ? (initial === undefined ? 'any time, required' : 'any time') : 'by a change',
    `${name === 'events' ? `a list of 1 to ${maxWords} [event types](events.md), \`KIND.*\` or \`*\`` : accepts}${nullable ? ' or null' : ''}`,
    description,
  ])
  return `${madeBy}
# Endpoints and deliveries

How they work together is in the [guide](../guides/webhooks.md) and [specification 9](../specification.md#9-endpoints).

## webhook

An endpoint that events are delivered to. \`/v1/webhooks\`, scopes \`webhooks:read\` and \`webhooks:write\`, and the read
scope of every subscribed type. Yours to set:

${table(['field', 'set', 'accepts', 'meaning'], yours)}

Shown:

${shownFields({ ...webhookFields(types), secret: secretField })}

Filters of the list: \`status\`, \`createdAfter\`, \`createdBefore\`.

## delivery

One event on its way to one endpoint: \`/v1/webhooks/{id}/deliveries\`, and of all endpoints \`/v1/deliveries\`. It never holds the
payload.

${shownFields(deliveryFields)}

Filters of the log: \`status\`, \`eventType\`, \`eventId\`, \`createdAfter\`, \`createdBefore\`, and of the log of all endpoints \`webhookId\`.

### Codes of \`lastError\`

${table(
  ['code', 'meaning'],
  Object.entries(deliveryErrorCodes).map(([code, meaning]) => [`\`${code}\``, meaning]),
)}

## attempt

One try of a delivery: \`/v1/webhooks/{id}/deliveries/{deliveryId}/attempts\`, newest first.

${shownFields(attemptFields)}

## stats

Results of deliveries, and changes, in steps of time: \`/v1/webhooks/{id}/stats\`, and of all endpoints \`/v1/stats\`. They
take \`from\`, \`to\` and a \`step\` of ${Object.keys(stepLengths)
    .map((word) => `\`${word}\``)
    .join(', ')}, and answer up to ${maxSteps.toLocaleString('en')} whole steps as \`data\`. Of each:

${shownFields(statsFields)}

## recovery

The replay of events that an endpoint missed: \`POST /v1/webhooks/{id}/recover\` begins one, \`/v1/webhooks/{id}/recoveries\` and
\`/v1/webhooks/{id}/recoveries/{recoveryId}\` show its progress. Yours to set:

${table(
  ['field', 'accepts', 'meaning'],
  Object.entries(recoveryShape.fields).map(([name, { accepts, description, nullable }]) => [
    `\`${name}\``,
    `${accepts}${nullable ? ' or null' : ', required'}`,
    description,
  ]),
)}

Shown:

${shownFields(recoveryFields)}
`
}

export function shownFields(shown: Readonly<Record<string, ShownField>>): string {
  const rows = Object.entries(shown).map(([name, { schema, description }]) => [
    `\`${name}\``,
    typeName(schema),
    description,
  ])
  return table(['field', 'type', 'meaning'], rows)
}

/** A schema of the few shapes that records have, in words. */
function typeName(schema: Readonly<Record<string, unknown>>): string {
  if (schema.const !== undefined) return `\`${schema.const}\``
  const orNull = Array.isArray(schema.type) ? ' or null' : ''
  if (schema.properties !== undefined)
    return `\`{${Object.keys(schema.properties as object).join(', ')}}\`${orNull}`
  if (schema.type === 'array') return 'list of words'
  if (Array.isArray(schema.examples)) {
    return `${schema.examples.map((word) => `\`${word}\``).join(', ')}${orNull}`
  }
  const format = { uuid: 'UUID', 'date-time': 'time' }[String(schema.format)]
  const type = String(Array.isArray(schema.type) ? schema.type[0] : schema.type)
  return `${format ?? (type === 'string' ? 'text' : type)}${orNull}`
}
