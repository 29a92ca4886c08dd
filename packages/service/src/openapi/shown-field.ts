/** Declares the fields of records that are not kinds, for the document and the SDK. */
import type { Json } from './api-module.ts'

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
