/**
 * The layout of a body's bytes, which `body.sql` reads in the database. The decision writes the head; the commit
 * function, which alone has the stamp, writes the rest:
 *
 *     {"id":…,"object":…,…,                           the head, which ends in a comma
 *     "number":7,                                     of a new row of a numbered kind
 *     "updatedAt":"2026-01-31T09:30:00.000Z"}         the tail, always of one length
 *
 * The last member of the head is one that the commit function can rewrite without reading the rest: the number, or a
 * reference that a removal sets to null. A removed row's body is its removal record.
 */
import { hash } from 'node:crypto'
import { nilUuid } from '../kernel/ids.ts'
import type { StreamReference } from './stream-table.ts'

const stampLength = '2026-01-31T09:30:00.000Z'.length
const idLength = nilUuid.length
const longestNumber = 19

export function bodyHead(members: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(members).slice(0, -1)},`
}

/** Whether the stored body shows the same object as this head, apart from the stamp. */
export function hasHead(body: string, head: string): boolean {
  return body.startsWith(head)
}

export function storedBytes(body: string): number {
  return Buffer.byteLength(body)
}

/** The most bytes that a new row's body can have: its number is not known before the commit. */
export function maxNewBytes(head: string, numberedField: string | null): number {
  const number = numberedField === null ? 0 : Buffer.byteLength(`"${numberedField}":,`) + longestNumber
  return Buffer.byteLength(head) + `"updatedAt":""}`.length + stampLength + number
}

/** The row is of a later version of its kind and lacks what this release decides on. A newer process can decide. */
export class NewerVersion extends Error {}

export function versionOf(body: string): string {
  return body.slice(-(stampLength + '"}'.length), -'"}'.length)
}

/** The order of fields in a body, lower first. The commit function may rewrite the last; stored bodies fix the rest. */
export function bodyOrder(field: OrderedField): number {
  if (isRewritten(field)) return 2
  const { reference } = field
  return reference?.onRemove === 'remove' && !reference.inPlace ? 1 : 0
}

/** Whether the commit function writes the field. A kind has at most one, as only one can be next to the tail. */
export function isRewritten({ sequence, reference }: OrderedField): boolean {
  return sequence || reference?.onRemove === 'detach'
}

interface OrderedField {
  readonly sequence: boolean
  readonly reference: Pick<StreamReference, 'onRemove' | 'inPlace'> | null
}

// The layout in SQL, for statements that look into stored bodies.

/** SQL: a `timestamptz(3)` as the wire writes it. */
export function timestampText(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** Bytes that a body loses when an id in quotes becomes null. */
const detachedBytes = idLength + '""'.length - 'null'.length

interface ClearedReference {
  /** SQL: whether the body has it. */
  readonly holds: string
  /** SQL: the body with null instead, or without the member where that is nested. */
  readonly cleared: string
  readonly bytes: number
}

/**
 * A reference that is cleared where it is: the first member with this name, as no field with names of clients comes
 * before it. Quotes within texts are escaped.
 */
export function clearedReference(
  body: string,
  field: string,
  within: string | null,
  id: string,
): ClearedReference {
  const member = within === null ? `"${field}":` : `,"${within.slice(1)}":`
  const found = `strpos(${body}, '${member}${within === null ? '' : `"' || ${id} || '"`}')`
  const whole = `'${member}"' || ${id} || '"'`
  const length = member.length + idLength + '""'.length
  const rest = within === null ? `'${member}null'` : `''`
  return {
    holds: `substr(${body}, ${found}, ${length}) = ${whole}`,
    cleared: `overlay(${body} placing ${rest} from ${found} for ${length})`,
    bytes: within === null ? detachedBytes : length,
  }
}

/** As `erasures` notes it, to tell it from a reference at the end of the body. */
export function clearedPointer(field: string, within: string | null): string {
  return `/${field}${within ?? ''}`
}

/** Whether the last member before the tail refers to this object, and the body with null instead. */
export function reference(body: string, id: string): { readonly holds: string; readonly removed: string } {
  const member = `('":"' || ${id} || '",')`
  const tail = '"updatedAt":""}'.length + stampLength
  return {
    holds: `right(left(${body}, -${tail}), length(${member})) = ${member}`,
    removed: `left(${body}, -(${tail} + length(${member}))) || '":null,' || right(${body}, ${tail})`,
  }
}

export const digestModulus = '18446744073709551616'

/** A row's digest term (specification 7.8): the first eight bytes of SHA-256(`<id>:<updatedAt>`), a signed decimal. */
export function digestTerm(id: string, updatedAt: string): string {
  return hash('sha256', `${id}:${updatedAt}`, 'buffer').readBigInt64BE(0).toString()
}

/** A row's content digest term: the first eight bytes of its body's SHA-256 as a signed decimal (specification 7.8). */
export function contentTerm(body: string): string {
  return hash('sha256', body, 'buffer').readBigInt64BE(0).toString()
}

/** SQL: `<id>:<updatedAt>` cut from the bytes of an existing row's body, which is cheaper than formatting both. */
export function versionBytes(bytes: string): string {
  const id = `substr(${bytes}, ${'{"id":"'.length + 1}, ${idLength})`
  const stamp = `substr(${bytes}, length(${bytes}) - ${stampLength + '"}'.length - 1}, ${stampLength})`
  return `${id} || '\\x3a'::bytea || ${stamp}`
}

/** SQL: a sum of terms modulo 2^64, not negative, as backups have it. Counters have the sum itself. */
export function modulo(sum: string): string {
  return `mod(mod(${sum}, ${digestModulus}) + ${digestModulus}, ${digestModulus})`
}

/**
 * SQL: the sum modulo 2^64 of the terms of these hashes, for many rows: its bytes are added up, which takes 0.2 µs less
 * for each than a sum of terms, and 9 µs more for the whole.
 */
export function sumOfManyTerms(hash: string): string {
  const sums = Array.from(
    { length: 8 },
    (_, n) => `sum(get_byte(${hash}, ${n}))::numeric * ${256n ** BigInt(7 - n)}`,
  )
  return `mod(${sums.join(' + ')}, ${digestModulus})`
}

/** A digest in decimal as 16 hex digits, as the wire has it. */
export function formatDigest(sum: string): string {
  return BigInt.asUintN(64, BigInt(sum)).toString(16).padStart(16, '0')
}
