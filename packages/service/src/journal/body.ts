/**
 * The layout of the bytes of a body, which no other file knows. A body is written in two parts: by the decision on the object, and by the
 * commit function, which alone has the stamp:
 *
 *     {"id":…,"object":…,…,                           the head: from the object's state; ends in a comma
 *     "number":7,                                     of a new row that is numbered: by the commit function
 *     "updatedAt":"2026-01-31T09:30:00.000Z"}         the tail: by the commit function, always of one length
 *
 * The last member of the head is what the commit function may write without reading the rest: the number, or a reference that the removal of
 * another object sets to null. A removed row has its removal record as its body.
 */
import { createHash, hash } from 'node:crypto'
import type { StreamReference } from './stream-table.ts'

const stampLength = '2026-01-31T09:30:00.000Z'.length
const idLength = '00000000-0000-0000-0000-000000000000'.length
/** Digits of the largest bigint. */
const longestNumber = 19

/** The head of a body with these members. */
export function bodyHead(members: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(members).slice(0, -1)},`
}

/** Whether a stored body has this head: the object shows the same, apart from the stamp. */
export function hasHead(body: string, head: string): boolean {
  return body.startsWith(head)
}

/** Bytes of a body as it is stored, in UTF-8. */
export function storedBytes(body: string): number {
  return Buffer.byteLength(body)
}

/**
 * The most bytes that the body of a new row can have: those of its head and its tail, and the longest number under this
 * name.
 */
export function mostNewBytes(head: string, numberedField: string | null): number {
  const number = numberedField === null ? 0 : Buffer.byteLength(`"${numberedField}":,`) + longestNumber
  return Buffer.byteLength(head) + `"updatedAt":""}`.length + stampLength + number
}

/** The `updatedAt` that a body ends with. */
export function versionOf(body: string): string {
  return body.slice(-(stampLength + '"}'.length), -'"}'.length)
}

/**
 * The order of fields in a body, lower first: what the commit function may rewrite is last. (Fields of references that
 * remove their row were late before that was needed, and stored bodies keep their order.)
 */
export function placeInBody(field: PlacedField): number {
  if (isRewritten(field)) return 2
  return field.reference?.onRemove === 'remove' ? 1 : 0
}

/** Whether the commit function writes the field. A kind has one such field at most, as one can be before the tail. */
export function isRewritten({ sequence, reference }: PlacedField): boolean {
  return sequence || reference?.onRemove === 'detach'
}

interface PlacedField {
  readonly sequence: boolean
  readonly reference: Pick<StreamReference, 'onRemove'> | null
}

/**
 * The body that the commit function makes of a head: as `newBody` in SQL; the head of an updated row has its number
 * already.
 */
export function committedBody(
  head: string,
  numbered: { readonly field: string; readonly number: number } | null,
  stamp: string,
): string {
  const number = numbered === null ? '' : `"${numbered.field}":${numbered.number},`
  return `${head}${number}"updatedAt":"${stamp}"}`
}

/** The same as `removalRecord` in SQL. */
export function removedBody(kind: string, id: string, stamp: string): string {
  return `{"object":"removed","id":"${id}","resource":"${kind}","removedAt":"${stamp}"}`
}

// The layout in SQL, for the commit function. `stamp` is an expression of the stamp as it is on the wire.

/** A `timestamptz(3)` as it is on the wire. */
export function timestampText(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The tail. */
export function tailText(stamp: string): string {
  return `'"updatedAt":"' || ${stamp} || '"}'`
}

/** The body of a new row: its head, its number under the name of `field` if it has one, and the tail. */
export function newBody(
  head: string,
  numbered: { field: string; number: string } | null,
  tail: string,
): string {
  const number = numbered === null ? '' : `'"${numbered.field}":' || ${numbered.number} || ',' || `
  return `${head} || ${number}${tail}`
}

/**
 * A stored body with another tail, and null for the reference before that. Only the end is read, without the name of the
 * reference, which another version of the kind may have renamed.
 */
export function detachedBody(body: string, tail: string): string {
  const ending = `"","updatedAt":""}`.length + idLength + stampLength
  return `left(${body}, -${ending}) || 'null,' || ${tail}`
}

/** Bytes that a body loses by that: an id with its quotes becomes null. */
export const detachedBytes = idLength + '""'.length - 'null'.length

/**
 * Of a stored body that changes by the reference before its tail alone, such as those of events: whether it refers to this
 * object by any name, and the body with null instead. Texts further ahead are not read.
 */
export function reference(body: string, id: string): { readonly holds: string; readonly removed: string } {
  const member = `('":"' || ${id} || '",')`
  const tail = '"updatedAt":""}'.length + stampLength
  return {
    holds: `right(left(${body}, -${tail}), length(${member})) = ${member}`,
    removed: `left(${body}, -(${tail} + length(${member}))) || '":null,' || right(${body}, ${tail})`,
  }
}

/** The removal record of a row: all that is stored of it from then on. */
export function removalRecord(kind: string, id: string, stamp: string): string {
  return `'{"object":"removed","id":"' || ${id} || '","resource":"${kind}","removedAt":"' || ${stamp} || '"}'`
}

/** 2^64, in decimal: the modulus of digests. */
export const digestModulus = '18446744073709551616'

/**
 * A row's term in its kind's digest: the first eight bytes of SHA-256(`<id>:<updatedAt>`), as a signed decimal
 * (specification 7.8). As `digest_term` in the database.
 */
export function digestTerm(id: string, updatedAt: string): string {
  return createHash('sha256').update(`${id}:${updatedAt}`).digest().readBigInt64BE(0).toString()
}

/**
 * A row's term in its kind's content digest: the first eight bytes of SHA-256 of its body, as a signed decimal
 * (specification 7.8). As `content_term` in the database.
 */
export function contentTerm(body: string): string {
  return hash('sha256', body, 'buffer').readBigInt64BE(0).toString()
}

/** SQL: `<id>:<updatedAt>` from the bytes of the body of an existing row, where it need not be formatted anew. */
export function versionBytes(bytes: string): string {
  const id = `substr(${bytes}, ${'{"id":"'.length + 1}, ${idLength})`
  const stamp = `substr(${bytes}, length(${bytes}) - ${stampLength + '"}'.length - 1}, ${stampLength})`
  return `${id} || '\\x3a'::bytea || ${stamp}`
}

// What `digest_term` and `content_term` are made from, in SQL. A statement over many rows says it by itself: those are declared
// immutable, which `convert_to` is not, so PostgreSQL calls them for each row and never puts their text in the place of the call (decision 22).

/** Of a row's id and the text of its stamp. */
export function versionHash(id: string, stampText: string): string {
  return `sha256(convert_to(${id} || ':' || ${stampText}, 'UTF8'))`
}

/** Of a body. */
export function contentHash(body: string): string {
  return `sha256(convert_to(${body}, 'UTF8'))`
}

/**
 * SQL: the sum modulo 2^64 of the terms of these hashes, 0 or more; null without rows. Adding up each of the eight bytes
 * takes a third of the time of making a number of every hash.
 */
export function sumOfTerms(hash: string): string {
  const sums = Array.from(
    { length: 8 },
    (_, n) => `sum(get_byte(${hash}, ${n}))::numeric * ${256n ** BigInt(7 - n)}`,
  )
  return `mod(${sums.join(' + ')}, ${digestModulus})`
}

/** A sum of terms modulo 2^64, in decimal, as 16 hex digits for the wire. */
export function formatDigest(sum: string): string {
  return BigInt.asUintN(64, BigInt(sum)).toString(16).padStart(16, '0')
}
