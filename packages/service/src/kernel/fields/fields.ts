/** The field types of kinds and other records. */

import { domainToASCII, domainToUnicode } from 'node:url'
import { z } from 'zod'
import { formatTimestamp, parseTimestamp } from '../timestamps.ts'
import {
  defineField,
  type Field,
  type Nullable,
  type Optional,
  type Options,
  type Reference,
} from './field.ts'

/** Whether PostgreSQL and UTF-8 can hold the text: no U+0000 and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

/** A string that PostgreSQL and UTF-8 can hold, of so many characters. */
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
      if (!isStorable(text))
        context.issues.push({ code: 'custom', params: { code: 'invalid_format' }, input: text })
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max })
}

/** Length in code points, which JSON Schema also counts. */
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

export function text<const O extends Optional & { max: number; min?: number }>(
  options: O,
): Field<Nullable<O, string>> {
  const min = options.min ?? 0
  const accepts = `a string of ${min === 0 ? 'at most' : `${min} to`} ${options.max} characters (no U+0000)`
  return defineField(storableText(min, options.max), accepts, 'text', options)
}

/** Stored in normalized form. */
export function email<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const address = z.email({ pattern: z.regexes.unicodeEmail })
  const reject = (because: string) => ({
    code: 'custom' as const,
    params: { code: 'invalid_format', because },
  })
  const schema = storableText(3, 320)
    .check((context) => {
      const input = context.value
      const found = invisibleIn(input)
      if (found !== null) context.issues.push({ ...reject(`it has the invisible character ${found}`), input })
    })
    .pipe(address)
    .transform((input, context) => {
      const form = addressForm(input)
      if (form === null) context.issues.push({ ...reject('its domain is no domain name'), input })
      else if (codePoints(form) <= 320) return form
      else context.issues.push({ code: 'too_big', origin: 'string', maximum: 320, inclusive: true, input })
      return z.NEVER
    })
  return defineField(schema, 'an email address of at most 320 characters', 'text', options)
}

export function phone<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  return defineField(
    z.string().regex(z.regexes.e164),
    'a telephone number in E.164, for example +4930123456',
    'text',
    options,
  )
}

/** Text in the form that `read` returns; null is refused. */
function readAs(schema: z.ZodType<string>, read: (text: string) => string | null) {
  return schema.transform((input, context) => {
    const form = read(input)
    if (form === null) context.issues.push({ code: 'custom', params: { code: 'invalid_format' }, input })
    return form ?? z.NEVER
  })
}

/** Stored in canonical form. */
export function locale<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = readAs(storableText(2, 100), (text) => {
    try {
      return Intl.getCanonicalLocales(text)[0] as string
    } catch {
      return null
    }
  })
  return defineField(schema, 'a language tag (BCP 47), for example en-GB', 'text', options)
}

const knownTimezones = new Map<string, string>()

/** Words in former names whose case is not a simple initial capital. */
const zoneWords = new Map(
  [
    ...['ACT', 'BajaNorte', 'BajaSur', 'CHAT', 'ComodRivadavia', 'DeNoronha', 'EasterIsland', 'GMT', 'IN'],
    ...['LHI', 'NSW', 'SystemV', 'UCT', 'US', 'UTC'],
  ].map((word) => [word.toLowerCase(), word]),
)

/** The IANA time zone `name`, in its canonical case; null when there is none, as for `+01:00`. */
function timezoneNamed(name: string): string | null {
  const lower = name.toLowerCase()
  const known = knownTimezones.get(lower)
  if (known !== undefined) return known
  if (!/^[a-z]/.test(lower)) return null
  let current: string
  try {
    current = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
  // Keeps a former name, because clients may compare it; `Intl` returns only the current one.
  const found = current.toLowerCase() === lower ? current : inCaseOfZones(lower)
  knownTimezones.set(lower, found)
  return found
}

/** `asia/kolkata` as `Asia/Kolkata`, `est5edt` as `EST5EDT`, `gb-eire` as `GB-Eire`. */
function inCaseOfZones(lower: string): string {
  const short = lower.includes('/') ? 0 : 3
  return lower.replaceAll(/[a-z\d]+/g, (word) => {
    if (/\d/.test(word) || word.length <= short) return word.toUpperCase()
    return zoneWords.get(word) ?? word.charAt(0).toUpperCase() + word.slice(1)
  })
}

/** Stored in canonical case. */
export function timezone<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = readAs(storableText(1, 100), timezoneNamed)
  return defineField(schema, 'an IANA time zone, for example Europe/Berlin', 'text', options)
}

interface Choice<W extends string> extends Optional {
  readonly initial?: W
  /** The values that clients may set, if fewer than all. */
  readonly settable?: readonly W[]
}

/** Nullable unless it is required or has `initial`. */
export function choice<const W extends readonly string[], const O extends Choice<W[number]>>(
  words: W,
  options: O,
): Field<O extends { initial: string } | { required: true } ? W[number] : W[number] | null> {
  type Value = O extends { initial: string } | { required: true } ? W[number] : W[number] | null
  const settable = options.settable ?? words
  const nullable = options.initial === undefined && options.required !== true
  const accepts = `one of ${settable.join(', ')}${nullable ? ' or null' : ''}`
  return defineField<Value>(z.enum(settable), accepts, 'text', options, {
    nullable,
    ...(options.initial === undefined ? {} : { initial: options.initial as Value }),
    ...(options.settable === undefined
      ? {}
      : {
          shown: z.enum(words),
          asImported: { schema: z.enum(words), accepts: `one of ${words.join(', ')}` },
        }),
  })
}

/** Accepts any RFC 3339 spelling, shows UTC with three decimals. */
export function timestamp<const O extends Optional>(options: O): Field<Nullable<O, string>> {
  const schema = readAs(z.string(), (text) => {
    const milliseconds = parseTimestamp(text)
    return milliseconds === null ? null : formatTimestamp(milliseconds)
  }).meta({ format: 'date-time' })
  const accepts = 'a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z'
  return defineField(schema, accepts, 'timestamptz(3)', options, {
    imported: options.imported ? 'time' : false,
  })
}

export function flag(options: Options & { initial: boolean }): Field<boolean> {
  return defineField(z.boolean(), 'true or false', 'boolean', options, {
    nullable: false,
    initial: options.initial,
  })
}

/** For example an amount in the smallest unit of its currency. */
export function integer<const O extends Optional & { min: number; max: number }>(
  options: O,
): Field<Nullable<O, number>> {
  const { min, max } = options
  return defineField(z.int().min(min).max(max), `a whole number from ${min} to ${max}`, 'bigint', options)
}

/** A counter from 0 that the service maintains, unless an import gives it. */
export function count(options: Options): Field<number> {
  const own = { ...options, access: 'read' } as const
  return defineField(z.int().min(0), 'a whole number from 0 up', 'bigint', own, {
    nullable: false,
    initial: 0,
  })
}

/** The id of another object, which must exist when it is set. */
export function reference<const R extends Reference, const O extends Optional>(
  to: R,
  options: O & { column: string },
): Field<R extends { onRemove: 'detach' } ? string | null : Nullable<O, string>> {
  type Value = R extends { onRemove: 'detach' } ? string | null : Nullable<O, string>
  const schema = z.guid().transform((value) => value.toLowerCase())
  return defineField<Value>(schema, `the id (a UUID) of a ${to.kind}`, 'uuid', options, {
    reference: to,
    ...(to.onRemove === 'detach' ? { shown: z.guid().nullable() } : {}),
  })
}

/** The highest number that an import may give; numbers of new objects come after it. */
const highestNumber = 999_999_999_999

/** A number that counts up within the organization, assigned at creation unless an import gives it. */
export function sequence(options: Options & { column: string }): Field<number> {
  return defineField(
    z.int().min(1).max(highestNumber),
    `a whole number from 1 to ${highestNumber}`,
    'bigint',
    { ...options, access: 'read', imported: true },
    { nullable: false, initial: 0, sequence: true, shown: z.int().min(1) },
  )
}

/** Repeats included. */
export const maxWords = 100

/** Required at creation. Repeats are dropped, order is preserved. */
export function wordList(
  words: readonly string[],
  options: { readonly description: string },
): Field<readonly string[]> {
  const schema = z
    .array(z.enum(words as [string, ...string[]]))
    .min(1)
    .max(maxWords)
    .transform((value) => [...new Set(value)])
  return defineField<readonly string[]>(
    schema,
    `a list of 1 to ${maxWords} of ${words.join(', ')}`,
    'text',
    { ...options, required: true },
    { shown: z.array(storableText(1, 100)), acceptsWithin: `one of ${words.join(', ')}` },
  )
}

/** Characters that are not visible or change how others display. */
const invisible = /(?!\0)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]/u

/** The first invisible character of a text, as `U+200B`; null: none. */
function invisibleIn(text: string): string | null {
  const found = invisible.exec(text)?.[0].codePointAt(0)
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The stored form of an address; null when DNS cannot resolve such a domain. */
function addressForm(address: string): string | null {
  const text = address.normalize('NFC').toLowerCase().normalize('NFC')
  const at = text.lastIndexOf('@') + 1
  const domain = domainForm(text.slice(at))
  return domain === null ? null : text.slice(0, at) + domain
}

/** In Unicode, as people write and search for it, also when it was sent as `xn--…`. */
function domainForm(domain: string): string | null {
  const isAscii = !/[^\p{ASCII}]/u.test(domain)
  if (isAscii && !domain.includes('xn--')) return domain
  // These functions parse a URL's host, so characters that end or escape a host are rejected.
  const ascii = /[/\\?#:%[\]]/.test(domain) ? '' : domainToASCII(domain)
  if (ascii === '') return isAscii ? domain : null
  const shown = domainToUnicode(ascii)
  // Some scripts join letters with an invisible character: the ASCII form keeps such names distinct.
  return invisible.test(shown) || domainToASCII(shown) !== ascii ? ascii : shown
}
