/** Fields and JSON Schemas as TypeScript. */

import type { Field, Fields } from '../../packages/service/src/kernel/fields/field.ts'
import type { ShownField } from '../../packages/service/src/openapi/field-schemas.ts'
import { fieldSchema } from '../../packages/service/src/openapi/field-schemas.ts'

type Json = Readonly<Record<string, unknown>>

/** With its description. */
export function member(name: string, field: Field, direction: 'input' | 'output', optional: boolean): string {
  const values = typeText(fieldSchema({ ...field, nullable: false }, direction), direction)
  const saysItself = direction === 'output' && field.shown !== undefined
  const nullable = field.nullable && !saysItself ? ' | null' : ''
  return `  /** ${field.description} */\n  ${name}${optional ? '?' : ''}: ${values}${nullable}\n`
}

/** Of a representation, without those in `inherited`. */
export function shownMembers(
  fields: Readonly<Record<string, ShownField>>,
  inherited: readonly string[] = [],
): string {
  return Object.entries(fields)
    .filter(([name]) => !inherited.includes(name))
    .map(
      ([name, { schema, description, optional }]) =>
        `  /** ${description} */\n  ${name}${optional ? '?' : ''}: ${typeText(schema, 'output')}\n`,
    )
    .join('')
}

/** Of a body that creates or changes. */
export function acceptedMembers(fields: Fields, purpose: 'create' | 'patch'): string {
  return Object.entries(fields)
    .map(([name, field]) => member(name, field, 'input', purpose === 'patch' || field.initial !== undefined))
    .join('')
}

/** For the few shapes that fields have. */
export function typeText(schema: Json, direction: 'input' | 'output' = 'input'): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `'${value}'`).join(' | ')
  // In responses a choice is open: `fieldSchema` then gives its words as examples.
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
        // In responses, choices inside objects are open too.
        const value = (one: Json) =>
          direction === 'output' && Array.isArray(one.enum)
            ? `Open<${typeText(one, direction)}>`
            : typeText(one, direction)
        const member = ([name, one]: [string, Json]) =>
          `${name}${required.includes(name) ? '' : '?'}: ${value(one)}`
        return `{ ${members.map(member).join('; ')} }`
      }
      return `Record<string, ${typeText(schema.additionalProperties as Json, direction)}>`
    default:
      throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`)
  }
}
