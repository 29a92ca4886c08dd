/** A field of a record. Validation, table mapping, filters, representation, OpenAPI and SDK types follow from it. */
import type { z } from 'zod'

/** Who may set it: clients always, clients at creation only, or only the service. */
type Access = 'write' | 'create' | 'read'

/**
 * What the removal of the object referred to does: removes this one, or sets the reference to null. `detach` keeps the
 * reference at the end of the body, and `clear` where it is.
 */
type OnRemove = 'remove' | 'detach' | 'clear'

export interface Reference {
  readonly kind: string
  readonly onRemove: OnRemove
  /** A boolean column of the other table that must be true, and the name for objects where it is not. */
  readonly condition?: { readonly column: string; readonly otherwise: string }
  /** Where the id is within the field's value, for errors; absent when the value is the id. */
  readonly within?: string
  /** Where released bodies have it before other fields: it stays there. */
  readonly inPlace?: boolean
  /** Which of these objects a change of the object referred to may change: those whose column has one of the values. */
  readonly changeable?: { readonly column: string; readonly values: readonly string[] }
}

/** A column next to the body, because a constraint, a filter or the commit function needs it. */
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
  /** What a value may be, in requests and OpenAPI. Null is allowed when `nullable`. */
  readonly schema: z.ZodType
  /** The schema in responses, where it is narrower. */
  readonly shown?: z.ZodType
  readonly nullable: boolean
  /** When creation does not set it; undefined: required. */
  readonly initial: V | undefined
  readonly access: Access
  /** Whether an import sets it. A time is then neither before the object's createdAt nor in the future. */
  readonly imported: boolean | 'time'
  /** What an import may give, where that is more. */
  readonly asImported?: Pick<Field, 'schema' | 'accepts'>
  /** The accepted values, as the end of "must be …". */
  readonly accepts: string
  /** For nested values: for each entry of a list or object, or by property name. */
  readonly acceptsWithin?: string | Readonly<Record<string, string>>
  readonly description: string
  readonly column: Column | null
  readonly unique: boolean
  /** `or none`: also for rows without a value, whose index has to have nulls. */
  readonly filter: boolean | 'or none'
  readonly range: Range | null
  /** Whether `q` searches its words. */
  readonly search: boolean
  readonly reference: Reference | null
  /** Whether the commit function numbers it within the organization at creation. */
  readonly sequence: boolean
  /** The value of its column, if it differs from the field's. */
  stored?(value: V): unknown
  /** Merges a PATCH value into the current one. Default: it replaces it. */
  merge?(current: V, patch: unknown): V
}

export type Fields = Readonly<Record<string, Field>>

/** The values of a record's own fields. */
export type State = Readonly<Record<string, unknown>>

/** Of JSON. */
export function isObject(value: unknown): value is State {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export type StateOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer V> ? V : never }

export interface Options {
  readonly description: string
  readonly access?: Access
  readonly imported?: boolean
  readonly column?: string
  readonly unique?: boolean
  readonly filter?: boolean | 'or none'
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
    imported: options.imported ?? false,
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
