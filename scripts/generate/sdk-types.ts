/** The SDK's types of every kind, from the same declarations that validate and document them. */
import { fieldSchema, schemaName } from '../../packages/service/src/openapi/schemas.ts'
import type { Field } from '../../packages/service/src/resource/field.ts'
import type { Kind } from '../../packages/service/src/resource/kind.ts'
import { filterNames } from '../../packages/service/src/resource/list-query.ts'
import { createEventTypes } from '../../packages/service/src/webhooks/event-types.ts'
import { webhookShapes } from '../../packages/service/src/webhooks/fields.ts'
import {
  attemptFields,
  deliveryFields,
  type ShownField,
  webhookFields,
} from '../../packages/service/src/webhooks/records.ts'

type Json = Record<string, unknown>

export function sdkTypes(kinds: readonly Kind[]): string {
  return `/** Made by npm run generate from the declarations of the service: what belongs to one kind, and no more. */
import type { Open, RemovalRecord, Row } from './envelope.ts'
import { RemovableResource, Resource } from './resource.ts'
import type { Send } from './transport.ts'

${kinds.map(kindTypes).join('\n')}
/** What an event's \`data\` holds, by the event's type. */
export interface EventData {
${kinds.flatMap(eventLines).join('')}}

${webhookTypes(createEventTypes(kinds).names)}

/** The calls of every kind, by its plural. */
export const resources = (send: Send) => ({
${kinds.map(resourceLine).join('')}})
`
}

function resourceLine(kind: Kind): string {
  const name = schemaName(kind)
  const resource = kind.removedEvent === null ? 'Resource' : 'RemovableResource'
  const patch = kind.immutable ? 'never' : `${name}Patch`
  return `  ${kind.plural}: new ${resource}<${name}, ${name}Input, ${patch}, ${name}Filters>(send, '${kind.plural}'),\n`
}

function eventLines(kind: Kind): string[] {
  return Object.keys(kind.events).map(
    (type) => `  '${type}': ${type === kind.removedEvent ? 'RemovalRecord' : schemaName(kind)}\n`,
  )
}

function kindTypes(kind: Kind): string {
  const name = schemaName(kind)
  const fields = Object.entries(kind.fields)
  const writable = fields.filter(([, field]) => field.access !== 'read')
  const shown = kind.representationOrder.map((field) => [field, kind.fields[field] as Field] as const)
  return `/** ${kind.description} */
export interface ${name} extends Row {
  object: '${kind.name}'
${shown.map(([field, spec]) => member(field, spec, 'output', false)).join('')}}

export interface ${name}Input {
${writable.map(([field, spec]) => member(field, spec, 'input', spec.initial !== undefined)).join('')}}

${patchType(kind)}export interface ${name}Filters {
${filterNames(kind)
  .map((filter) => {
    const field = kind.fields[filter]
    return `  ${filter}?: ${field === undefined ? 'string' : typeText(fieldSchema({ ...field, nullable: false }, 'input'))}\n`
  })
  .join('')}}
`
}

function patchType(kind: Kind): string {
  if (kind.immutable) return ''
  const writable = Object.entries(kind.fields).filter(([, spec]) => spec.access === 'write')
  return `export interface ${schemaName(kind)}Patch {
${writable.map(([field, spec]) => member(field, spec, 'input', true)).join('')}}

`
}

function webhookTypes(eventTypes: readonly string[]): string {
  const { creation, change } = webhookShapes(eventTypes)
  // The one place that lists the types is EventData.
  const shown = (fields: Readonly<Record<string, ShownField>>, own: readonly string[] = []) =>
    Object.entries(fields)
      .filter(([name]) => !own.includes(name))
      .map(
        ([name, { schema, description }]) =>
          `  /** ${description} */\n  ${name}: ${byName(typeText({ ...schema }, 'output'), eventTypes)}\n`,
      )
      .join('')
  const accepted = (fields: Readonly<Record<string, Field>>, isPatch: boolean) =>
    Object.entries(fields)
      .map(([name, field]) => member(name, field, 'input', isPatch || field.initial !== undefined))
      .map((text) => byName(text, eventTypes))
      .join('')
  const ofRow = ['id', 'object', 'organizationId', 'createdAt', 'updatedAt']
  return `/** An endpoint that events are delivered to. */
export interface Webhook extends Row {
  object: 'webhook'
${shown(webhookFields(eventTypes), ofRow)}}

export interface WebhookInput {
${accepted(creation.fields, false)}}

export interface WebhookPatch {
${accepted(change.fields, true)}}

export interface WebhookFilters {
  status?: 'active' | 'disabled'
  createdAfter?: string
  createdBefore?: string
}

/** One event on its way to one endpoint. It never holds the payload. */
export interface Delivery extends Row {
  object: 'delivery'
${shown(deliveryFields, ofRow)}}

export interface DeliveryFilters {
  status?: 'pending' | 'succeeded' | 'failed'
  eventType?: keyof EventData | 'ping'
}

/** One try of a delivery. */
export interface Attempt {
${shown(attemptFields)}}
`
}

/** `text` with the union of all event types by its name. */
function byName(text: string, eventTypes: readonly string[]): string {
  return text.replace(eventTypes.map((type) => `'${type}'`).join(' | '), 'keyof EventData')
}

function member(name: string, field: Field, direction: 'input' | 'output', optional: boolean): string {
  const values = typeText(fieldSchema({ ...field, nullable: false }, direction), direction)
  const saysItself = direction === 'output' && field.shown !== undefined
  const nullable = field.nullable && !saysItself ? ' | null' : ''
  return `  /** ${field.description} */\n  ${name}${optional ? '?' : ''}: ${values}${nullable}\n`
}

/** A JSON Schema, of the few shapes that fields have, as a TypeScript type. */
function typeText(schema: Json, direction: 'input' | 'output' = 'input'): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `'${value}'`).join(' | ')
  // Reading, a choice is open: `fieldSchema` then gives its words as examples.
  if (direction === 'output' && Array.isArray(schema.examples)) {
    const known = `Open<${schema.examples.map((value) => `'${value}'`).join(' | ')}>`
    return Array.isArray(schema.type) ? `${known} | null` : known
  }
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one) => typeText(one, direction)).join(' | ')
  if (Array.isArray(schema.type) && schema.properties !== undefined) {
    return `${typeText({ ...schema, type: 'object' }, direction)} | null`
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ type }, direction)).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${typeText(schema.items as Json, direction)})[]`
    case 'object':
      if (schema.properties !== undefined) {
        const members = Object.entries(schema.properties as Record<string, Json>)
        const required = (schema.required ?? []) as readonly string[]
        const member = ([name, one]: [string, Json]) =>
          `${name}${required.includes(name) ? '' : '?'}: ${typeText(one, direction)}`
        return `{ ${members.map(member).join('; ')} }`
      }
      return `Record<string, ${typeText(schema.additionalProperties as Json, direction)}>`
    default:
      throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`)
  }
}
