/**
 * What a field of a record is, of a kind or another. It says once what it accepts, who may set it, where it is stored and how it is shown;
 * validation, table mapping, filters, representation, OpenAPI and SDK types follow.
 */
import type { z } from 'zod'

/** Who may set a field: clients always, clients at creation only, or the service. */
type Access = 'write' | 'create' | 'read'

/**
 * What becomes of an object when the object that it refers to is removed: it goes too, it stays and refers to
 * nothing, or nothing happens to it.
 */
type OnRemove = 'remove' | 'detach' | 'keep'

export interface Reference {
  /** The kind referred to. */
  readonly kind: string
  readonly onRemove: OnRemove
  /** A column of the other table that must be true as well, and what to call an object of which it is not. */
  readonly condition?: { readonly column: string; readonly otherwise: string }
  /** Where the id stands within the field's value, for errors; without it the value is the id. */
  readonly within?: string
}

/** A column beside the body, there because a constraint, a filter or the commit function needs it. */
export interface Column {
  readonly name: string
  readonly type: 'text' | 'uuid' | 'boolean' | 'bigint' | 'timestamptz(3)'
}

/** Parameters of a list that hold rows against a time of theirs; both are exclusive. */
export interface Range {
  readonly after: string
  readonly before: string
}

export interface Field<V = unknown> {
  /** What a value may be; also its type in OpenAPI. Null is allowed when `nullable`. */
  readonly schema: z.ZodType
  /** What is shown, where that is less than what is accepted. */
  readonly shown?: z.ZodType
  readonly nullable: boolean
  /** The value when creation does not give one. Undefined on a required field. */
  readonly initial: V | undefined
  readonly access: Access
  /** What is accepted, as the end of "must be …". */
  readonly accepts: string
  /** The same for what is within the value: for each entry of a list or object, or for properties by their names. */
  readonly acceptsWithin?: string | Readonly<Record<string, string>>
  readonly description: string
  /** Values that it accepts, for the documents, where those that `transitions.ts` tries do not fit. */
  readonly examples?: readonly unknown[]
  readonly column: Column | null
  readonly unique: boolean
  readonly filter: boolean
  readonly range: Range | null
  /** Its words are found by `q`. */
  readonly search: boolean
  readonly reference: Reference | null
  /** Numbered by the organization when it is created: the commit function fills it in. */
  readonly sequence: boolean
  /** What its column holds, where that is not the value itself. */
  stored?(value: V): unknown
  /** How a PATCH value joins the current one; without it the new value replaces the old. */
  merge?(current: V, patch: unknown): V
}

export type Fields = Readonly<Record<string, Field>>

/** The values of a record's own fields, whatever they are. */
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

/** A field of any sort; the vocabulary in fields.ts is made with it, and so is what only one kind has. */
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
