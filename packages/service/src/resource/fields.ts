/**
 * The vocabulary that kinds are declared in. A field says once what it accepts, who may set it, where it is
 * stored and how it is shown; validation, table mapping, filters, representation, OpenAPI and SDK types follow.
 */
import { z } from 'zod'
import { formatTimestamp, parseTimestamp } from '../kernel/timestamps.ts'

/** Who may set a field: clients always, clients at creation only, or the service. */
export type Access = 'write' | 'create' | 'read'

/** What becomes of an object when the object that it refers to is removed. */
export type OnRemove = 'remove' | 'keep'

export interface Reference {
  /** The kind referred to. */
  readonly kind: string
  readonly onRemove: OnRemove
  /** A column of the other table that must be true as well, and what to call an object of which it is not. */
  readonly condition?: { readonly column: string; readonly otherwise: string }
}

/** A column beside the body, there because a constraint, a filter or the commit function needs it. */
export interface Column {
  readonly name: string
  readonly type: 'text' | 'uuid' | 'boolean' | 'bigint' | 'timestamptz(3)'
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
  readonly description: string
  readonly column: Column | null
  readonly unique: boolean
  readonly filter: boolean
  /** Its words are found by `q`. */
  readonly search: boolean
  readonly reference: Reference | null
  /** Numbered by the organization when it is created: the commit function fills it in. */
  readonly sequence: boolean
  /** How a PATCH value joins the current one; without it the new value replaces the old. */
  merge?(current: V, patch: unknown): V
}

export type Fields = Readonly<Record<string, Field>>

/** The values of an object's own fields, in TypeScript. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer V> ? V : never }

interface Options {
  readonly description: string
  readonly access?: Access
  readonly column?: string
  readonly unique?: boolean
  readonly filter?: boolean
  readonly search?: boolean
}

type Nullable<O, V> = O extends { readonly required: true } ? V : V | null

interface Optional extends Options {
  readonly required?: boolean
}

function make<V>(
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
    search: options.search ?? false,
    reference: null,
    sequence: false,
    ...more,
  }
}

/** A string that every layer below can hold: no U+0000 (PostgreSQL), no half of a surrogate pair (UTF-8). */
export function storableText(min: number, max: number): z.ZodType<string> {
  return z
    .string()
    .check((context) => {
      const text = context.value
      const length = codePoints(text)
      if (length > max)
        context.issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: text })
      if (length < min)
        context.issues.push({
          code: 'too_small',
          origin: 'string',
          minimum: min,
          inclusive: true,
          input: text,
        })
      if (text.includes('\u0000') || !text.isWellFormed())
        context.issues.push({ code: 'custom', params: { code: 'invalid_format' }, input: text })
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max })
}

/** Length in characters as a reader counts them (code points), which is also what JSON Schema counts. */
function codePoints(text: string): number {
  let length = text.length
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    if (unit >= 0xd800 && unit <= 0xdbff && n + 1 < text.length) {
      length--
      n++
    }
  }
  return length
}

/** A string of `min` (0 unless told) to `max` characters. */
export function text<const O extends Optional & { max: number; min?: number }>(
  options: O,
): Field<Nullable<O, string>> {
  const min = options.min ?? 0
  const accepts = `a string of ${min === 0 ? 'at most' : `${min} to`} ${options.max} characters (no U+0000)`
  return make(storableText(min, options.max), accepts, 'text', options)
}

/** An email address, stored in lower case. */
export function email<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = storableText(3, 320)
    .pipe(z.email({ pattern: z.regexes.unicodeEmail }))
    .transform((value) => value.toLowerCase())
  return make(schema, 'an email address of at most 320 characters', 'text', options)
}

/** A telephone number in E.164. */
export function phone<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  return make(z.e164(), 'a telephone number in E.164, for example +4930123456', 'text', options)
}

/** A language tag (BCP 47), stored in its canonical spelling. */
export function locale<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = storableText(2, 100).transform((value, context) => {
    try {
      return Intl.getCanonicalLocales(value)[0] as string
    } catch {
      context.issues.push({ code: 'custom', params: { code: 'invalid_format' }, input: value })
      return z.NEVER
    }
  })
  return make(schema, 'a language tag (BCP 47), for example en-GB', 'text', options)
}

const knownTimezones = new Set<string>()

/** Whether `name` is a time zone of the IANA database. Offsets such as `+01:00` are not. */
function isTimezone(name: string): boolean {
  // Any case is accepted; remembered in one, so that there are no more to remember than time zones.
  const known = name.toLowerCase()
  if (knownTimezones.has(known)) return true
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  knownTimezones.add(known)
  return true
}

/** The name of an IANA time zone. */
export function timezone<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = storableText(1, 100).check((context) => {
    if (!isTimezone(context.value))
      context.issues.push({ code: 'custom', params: { code: 'invalid_format' }, input: context.value })
  })
  return make(schema, 'an IANA time zone, for example Europe/Berlin', 'text', options)
}

/** One of a few words. With `initial` it always has a value; without, null is one more. */
export function choice<const W extends readonly string[], const O extends Options & { initial?: W[number] }>(
  words: W,
  options: O,
): Field<O extends { initial: string } ? W[number] : W[number] | null> {
  type Value = O extends { initial: string } ? W[number] : W[number] | null
  const accepts = `one of ${words.join(', ')}${options.initial === undefined ? ' or null' : ''}`
  return make<Value>(z.enum(words), accepts, 'text', options, {
    nullable: options.initial === undefined,
    initial: (options.initial ?? null) as Value,
  })
}

/** A point in time; any RFC 3339 spelling comes in, UTC with three decimals goes out. */
export function timestamp<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = z
    .string()
    .transform((value, context) => {
      const milliseconds = parseTimestamp(value)
      if (milliseconds !== null) return formatTimestamp(milliseconds)
      context.issues.push({ code: 'custom', params: { code: 'invalid_format' }, input: value })
      return z.NEVER
    })
    .meta({ format: 'date-time' })
  const accepts = 'a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z'
  return make(schema, accepts, 'timestamptz(3)', options)
}

/** Yes or no, with a value when creation gives none. */
export function flag(options: Options & { initial: boolean }): Field<boolean> {
  return make(z.boolean(), 'true or false', 'boolean', options, { nullable: false, initial: options.initial })
}

/** A whole number from `min` to `max`, for example an amount in the smallest unit of its currency. */
export function integer<const O extends Optional & { min: number; max: number }>(
  options: O,
): Field<Nullable<O, number>> {
  const { min, max } = options
  return make(z.int().min(min).max(max), `a whole number from ${min} to ${max}`, 'bigint', options)
}

/** The id of another object, which must exist when it is set. */
export function reference<const O extends Optional>(
  to: Reference,
  options: O & { column: string },
): Field<Nullable<O, string>> {
  const schema = z.guid().transform((value) => value.toLowerCase())
  return make(schema, `the id (a UUID) of a ${to.kind}`, 'uuid', options, { reference: to })
}

/** A number that counts up within the organization, given at creation. */
export function sequence(options: Options & { column: string }): Field<number> {
  return make(
    z.int().min(1),
    'a number',
    'bigint',
    { ...options, access: 'read' },
    { nullable: false, initial: 0, sequence: true },
  )
}

/** Up to 50 labels. A set: repeats are dropped, order is kept. */
export function tags(): Field<readonly string[]> {
  const schema = z.array(storableText(1, 50)).max(50)
  return make<readonly string[]>(
    schema.transform((words) => [...new Set(words)]),
    'a list of at most 50 strings of 1 to 50 characters',
    'text',
    { description: 'Labels. Repeats are dropped.' },
    { nullable: false, initial: [] },
  )
}

export type CustomAttributes = Readonly<Record<string, string | number | boolean>>

/** Up to 50 named values. A PATCH merges: a key sent replaces its value, null deletes the key. */
export function customAttributes(): Field<CustomAttributes> {
  const name = storableText(1, 40)
  const text = storableText(0, 500)
  const value = z.union([text, z.number(), z.boolean(), z.null()])
  // A record says what this takes; checking is done here, as a record drops a key called "__proto__" and calls
  // a string that is too long a wrong type.
  const { $schema: _, ...documented } = z.toJSONSchema(z.record(name, value))
  const schema = z
    .unknown()
    .check(({ value: attributes, issues }) => {
      if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
        issues.push({ code: 'invalid_type', expected: 'record', input: attributes })
        return
      }
      const entries = Object.entries(attributes)
      // First, so that nobody has us look at a hundred thousand of them one by one.
      if (entries.filter(([, one]) => one !== null).length > 50) {
        issues.push({ code: 'too_big', origin: 'array', maximum: 50, inclusive: true, input: attributes })
        return
      }
      for (const [key, one] of entries) {
        const wrong = [name.safeParse(key), (typeof one === 'string' ? text : value).safeParse(one)]
        for (const { error } of wrong)
          for (const issue of error?.issues ?? []) issues.push({ ...issue, path: [key], input: one })
      }
    })
    .meta(documented)
  const accepts =
    'an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key)'
  return make<CustomAttributes>(
    schema,
    accepts,
    'text',
    { description: 'Named values of your own. A PATCH merges; null deletes a key.' },
    {
      nullable: false,
      initial: {},
      merge: mergeAttributes,
      shown: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    },
  )
}

function mergeAttributes(current: CustomAttributes, patch: unknown): CustomAttributes {
  const merged = new Map<string, string | number | boolean>(Object.entries(current))
  for (const [key, value] of Object.entries(patch as Record<string, string | number | boolean | null>)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  // fromEntries defines keys rather than assigning them: "__proto__" is a key like any other.
  return Object.fromEntries(merged)
}

/** What customers, conversations, tickets and bookings all take beside their own fields. */
export function commonFields() {
  return {
    externalId: text({
      max: 255,
      min: 1,
      column: 'external_id',
      unique: true,
      filter: true,
      description: 'Your own id of it.',
    }),
    tags: tags(),
    customAttributes: customAttributes(),
  }
}
