/**
 * A field of a record. It declares what values are accepted, who may set it, how it is stored and shown.
 * Validation, table mapping, filters, representation, OpenAPI and SDK types follow from it.
 */
import type { z } from 'zod'

/** Who may set a field: clients always, clients at creation only, or only the service. */
type Access = 'write' | 'create' | 'read'

/**
 * What happens to an object when the object that it refers to is removed: it is removed too, its reference
 * becomes null, or nothing.
 */
type OnRemove = 'remove' | 'detach' | 'keep'

export interface Reference {
  /** The kind referred to. */
  readonly kind: string
  readonly onRemove: OnRemove
  /** A boolean column of the other table that must be true, and the name for objects where it is not. */
  readonly condition?: { readonly column: string; readonly otherwise: string }
  /** Where the id is within the field's value, for errors; absent when the value is the id. */
  readonly within?: string
}

/** A column stored next to the body, because a constraint, a filter or the commit function needs it. */
export interface Column {
  readonly name: string
  readonly type: 'text' | 'uuid' | 'boolean' | 'bigint' | 'timestamptz(3)'
}

/** List parameters that compare a time of the row; both are exclusive. */
export interface Range {
  readonly after: string
  readonly before: string
}

export interface Field<V = unknown> {
  /** What a value may be; also its type in OpenAPI. Null is allowed when `nullable`. */
  readonly schema: z.ZodType
  /** The schema in responses, where it is narrower than what is accepted. */
  readonly shown?: z.ZodType
  readonly nullable: boolean
  /** The value when creation does not set it. Undefined for a required field. */
  readonly initial: V | undefined
  readonly access: Access
  /** The accepted values, as the end of "must be …". */
  readonly accepts: string
  /** The same for nested values: for each entry of a list or object, or by property name. */
  readonly acceptsWithin?: string | Readonly<Record<string, string>>
  readonly description: string
  /** Examples for the documentation, where those that `transitions.ts` tries do not fit. */
  readonly examples?: readonly unknown[]
  readonly column: Column | null
  readonly unique: boolean
  readonly filter: boolean
  readonly range: Range | null
  /** Whether `q` searches its words. */
  readonly search: boolean
  readonly reference: Reference | null
  /** Whether the commit function numbers it within the organization at creation. */
  readonly sequence: boolean
  /** The value of its column, if it differs from the field's. */
  stored?(value: V): unknown
  /** Merges a PATCH value into the current one. Default: the new value replaces it. */
  merge?(current: V, patch: unknown): V
}

export type Fields = Readonly<Record<string, Field>>

/** The values of a record's own fields. */
export type State = Readonly<Record<string, unknown>>

/** The same, of these fields. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer V> ? V : never }

export interface Options {
  readonly description: string
  readonly access?: Access
  readonly column?: string
  readonly unique?: boolean
  readonly filter?: boolean
  readonly range?: Range
  readonly search?: boolean
}

export type Nullable<O, V> = O extends { readonly required: true } ? V : V | null

export interface Optional extends Options {
  readonly required?: boolean
}

/** Defines a field of any type; used by fields.ts, and for types that only one kind has. */
export function defineField<V>(
  schema: z.ZodType,
  accepts: string,
  type: Column['type'],
  options: Optional,
  more: Partial<Field<V>> = {},
): Field<V> {
  const required = options.required === true
  return {
    schema,
    accepts,
    nullable: !required,
    initial: required ? undefined : (null as V),
    access: options.access ?? 'write',
    description: options.description,
    column: options.column === undefined ? null : { name: options.column, type },
    unique: options.unique ?? false,
    filter: options.filter ?? false,
    range: options.range ?? null,
    search: options.search ?? false,
    reference: null,
    sequence: false,
    ...more,
  }
}
