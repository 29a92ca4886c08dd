/** The SDK's types of every kind, from the same declarations that validate and document them. */
import { fieldSchema, schemaName } from '../../packages/service/src/openapi/schemas.ts'
import type { Field } from '../../packages/service/src/resource/fields.ts'
import type { Kind } from '../../packages/service/src/resource/kind.ts'
import { filterNames } from '../../packages/service/src/resource/list-query.ts'

type Json = Record<string, unknown>

export function sdkTypes(kinds: readonly Kind[]): string {
  return `/** Made by npm run generate from the declarations of the service: what belongs to one kind, and no more. */
import type { Open, RemovalRecord, Row } from './envelope.ts'
import { Resource } from './resource.ts'
import type { Send } from './transport.ts'

${kinds.map(kindTypes).join('\n')}
/** What an event's \`data\` holds, by the event's type. */
export interface EventData {
${kinds.flatMap(eventLines).join('')}}

/** The calls of every kind, by its plural. */
export const resources = (send: Send) => ({
${kinds.map(resourceLine).join('')}})
`
}

function resourceLine(kind: Kind): string {
  const name = schemaName(kind)
  return `  ${kind.plural}: new Resource<${name}, ${name}Input, ${name}Patch, ${name}Filters>(send, '${kind.plural}'),\n`
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

export interface ${name}Patch {
${writable
  .filter(([, spec]) => spec.access === 'write')
  .map(([field, spec]) => member(field, spec, 'input', true))
  .join('')}}

export interface ${name}Filters {
${filterNames(kind)
  .map((filter) => {
    const field = kind.fields[filter]
    return `  ${filter}?: ${field === undefined ? 'string' : typeText(fieldSchema({ ...field, nullable: false }, 'input'))}\n`
  })
  .join('')}}
`
}

function member(name: string, field: Field, direction: 'input' | 'output', optional: boolean): string {
  const values = typeText(fieldSchema({ ...field, nullable: false }, direction), direction)
  const nullable = field.nullable ? ' | null' : ''
  return `  /** ${field.description} */\n  ${name}${optional ? '?' : ''}: ${values}${nullable}\n`
}

/** A JSON Schema, of the few shapes that fields have, as a TypeScript type. */
function typeText(schema: Json, direction: 'input' | 'output' = 'input'): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `'${value}'`).join(' | ')
  // Reading, a choice is open: `fieldSchema` then gives its words as examples.
  if (direction === 'output' && Array.isArray(schema.examples)) {
    return `Open<${schema.examples.map((value) => `'${value}'`).join(' | ')}>`
  }
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one) => typeText(one, direction)).join(' | ')
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
      return `Record<string, ${typeText(schema.additionalProperties as Json, direction)}>`
    default:
      throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`)
  }
}
