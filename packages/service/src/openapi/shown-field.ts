/** The vocabulary in which records that are no kind are declared for the documents and for the types of the SDK. */
import type { Json } from './api-module.ts'

/** A field as it is shown: its JSON Schema, and what it means. */
export interface ShownField {
  readonly schema: Json
  readonly description: string
}

/** Every field of a record, declared: the compiler holds the two together. */
export type Shown<R> = { readonly [Name in keyof R]: ShownField }

export const uuid = { type: 'string', format: 'uuid' }
export const text = { type: 'string' }
export const count = { type: 'integer', minimum: 0 }
export const time = { type: 'string', format: 'date-time' }
/** Words known today: reading, a choice is open. */
export const words = (...examples: readonly string[]) => ({ type: 'string', examples })

export function nullable(schema: { type: string }) {
  return { ...schema, type: [schema.type, 'null'] }
}

export function field(schema: Record<string, unknown>, description: string): ShownField {
  return { schema, description }
}

/** The schema of a record with these fields. */
export function recordSchema(
  description: string,
  fields: Readonly<Record<string, ShownField>>,
  example: object,
): Json {
  return {
    type: 'object',
    description,
    required: Object.keys(fields),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { schema, description }]) => [name, { ...schema, description }]),
    ),
    examples: [example],
  }
}
