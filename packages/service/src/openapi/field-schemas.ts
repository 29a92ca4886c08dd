/** JSON Schema of fields: for bodies and for responses. */
import { z } from 'zod'
import type { Field } from '../kernel/fields/field.ts'
import type { Json } from './api-module.ts'

type FieldEntries = readonly (readonly [string, Field])[]

/** The body of a creation or an action, which takes these fields alone. */
export function creationBody(fields: FieldEntries, example: object, description?: string): Json {
  return {
    type: 'object',
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
    required: requiredOf(fields),
    properties: inputs(fields),
    examples: [example],
  }
}

/** The body of a change. `demands`: a sentence on what must hold afterwards. */
export function patchBody(fields: FieldEntries, example: object, demands?: string): Json {
  return {
    type: 'object',
    additionalProperties: false,
    description: `Fields left out stay as they are.${demands === undefined ? '' : ` ${demands}`}`,
    properties: inputs(fields),
    examples: [example],
  }
}

export function requiredOf(fields: FieldEntries): readonly string[] {
  return fields.filter(([, { initial }]) => initial === undefined).map(([name]) => name)
}

/** Each field with its rule in words. */
export function inputs(fields: FieldEntries): Json {
  return Object.fromEntries(
    fields.map(([name, field]) => {
      const schema = fieldSchema(field, 'input')
      return [name, { ...schema, description: `${schema.description} ${rulesOf(field)}` }]
    }),
  )
}

function rulesOf({ accepts, nullable, initial, unique }: Field): string {
  const sentences = [
    `Must be ${accepts}${nullable && !accepts.endsWith('null') ? ', or null' : ''}.`,
    unique ? 'Unique in the organization.' : '',
    initial === undefined || initial === null ? '' : `Initially \`${JSON.stringify(initial)}\`.`,
  ]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

/** In responses an enumeration is open, because later versions may add words. */
export function fieldSchema(field: Field, direction: 'input' | 'output'): Record<string, unknown> {
  const zod = direction === 'output' ? (field.shown ?? field.schema) : field.schema
  const { $schema: _, ...schema } = z.toJSONSchema(zod, {
    io: 'input',
    unrepresentable: 'any',
  }) as Record<string, unknown>
  if (direction === 'output' && Array.isArray(schema.enum)) {
    schema.examples = schema.enum
    delete schema.enum
  }
  const described = { ...schema, description: field.description }
  // The schema of what is shown includes null itself.
  if (!field.nullable || (direction === 'output' && field.shown !== undefined)) return described
  if (direction === 'input' && Array.isArray(schema.enum)) {
    return { ...described, type: ['string', 'null'], enum: [...schema.enum, null] }
  }
  return typeof schema.type === 'string' ? { ...described, type: [schema.type, 'null'] } : described
}
