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

export interface ShownField {
  readonly schema: Json
  readonly description: string
  readonly optional?: true
}

/** The compiler checks that no field of the record is missing. */
export type Shown<R> = { readonly [Name in keyof R]-?: ShownField }

export const uuid = { type: 'string', format: 'uuid' }
export const text = { type: 'string' }
export const count = { type: 'integer', minimum: 0 }
export const time = { type: 'string', format: 'date-time' }
/** An open enumeration with the currently known words. */
export const words = (...examples: readonly string[]) => ({ type: 'string', examples })

export function nullable(schema: { type: string }) {
  return { ...schema, type: [schema.type, 'null'] }
}

export function field(schema: Record<string, unknown>, description: string): ShownField {
  return { schema, description }
}

/** A field that some records lack. */
export function optional(schema: Record<string, unknown>, description: string): ShownField {
  return { schema, description, optional: true }
}

export function recordSchema(
  description: string,
  fields: Readonly<Record<string, ShownField>>,
  example?: object,
): Json {
  return {
    type: 'object',
    description,
    required: Object.keys(fields).filter((name) => fields[name]?.optional !== true),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { schema, description }]) => [name, { ...schema, description }]),
    ),
    ...(example === undefined ? {} : { examples: [example] }),
  }
}
