/**
 * The sync cursor: a position in one organization's stream of a kind or a set of kinds (its *resource*), in one epoch
 * (specification 7.5, decision 20). It needs no secret, as it grants nothing that the key does not. It does not expire:
 * only a restore, which begins a new epoch, ends it.
 *
 *   version 1 · resource 8 (hash) · organization 16 · epoch 4 · at 8 · id 16 · removalsAfter 8 · check 8
 *
 * The checksum reveals any change. 69 bytes are 92 base64url characters with no spare bits, so a cursor has one
 * spelling.
 */
import { hash } from 'node:crypto'
import { LruMap } from './lru-map.ts'
import { isTime } from './timestamps.ts'

/** In the order of `(updatedAt, id)`. The stream does not report anything at or before it again. */
export interface Position {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly id: string
}

export interface Cursor {
  readonly resource: string
  readonly organizationId: string
  readonly epoch: number
  readonly position: Position
  /** In a first sync: the clock when it began, in milliseconds. Removals up to it are skipped. Otherwise null. */
  readonly removalsAfter: number | null
}

/** With it a position excludes its whole millisecond. */
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const version = 1
const length = 69
const checkedLength = length - 8
const none = -(2n ** 63n)

export function encodeCursor(cursor: Cursor): string {
  // Every byte is written.
  const bytes = Buffer.allocUnsafe(length)
  bytes.writeUInt8(version, 0)
  bytes.write(knownKey(cursor.resource), 1, 'hex')
  bytes.write(uuidHex(cursor.organizationId), 9, 'hex')
  bytes.writeUInt32BE(cursor.epoch, 25)
  bytes.writeBigInt64BE(BigInt(cursor.position.at), 29)
  bytes.write(uuidHex(cursor.position.id), 37, 'hex')
  bytes.writeBigInt64BE(cursor.removalsAfter === null ? none : BigInt(cursor.removalsAfter), 53)
  bytes.write(checksum(bytes), checkedLength, 'hex')
  return bytes.toString('base64url')
}

/** Null unless `text` is an unaltered cursor of this resource and organization. The caller checks the epoch. */
export function decodeCursor(text: string, resource: string, organizationId: string): Cursor | null {
  const own = knownKey(resource)
  return decodeCursorOf(text, (key) => (key === own ? resource : null), organizationId)
}

/** For a cursor of any resource that `resourceOf` finds by its key. */
export function decodeCursorOf(
  text: string,
  resourceOf: (key: string) => string | null,
  organizationId: string,
): Cursor | null {
  if (text.length !== (length / 3) * 4) return null
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== length || bytes.toString('base64url') !== text) return null
  if (bytes.readUInt8(0) !== version || bytes.toString('hex', checkedLength) !== checksum(bytes)) return null
  if (bytes.toString('hex', 9, 25) !== uuidHex(organizationId)) return null
  const resource = resourceOf(bytes.toString('hex', 1, 9))
  if (resource === null) return null
  const at = Number(bytes.readBigInt64BE(29))
  const removals = bytes.readBigInt64BE(53)
  const removalsAfter = removals === none ? null : Number(removals)
  // The checksum is not secret, so a client can forge a cursor with an invalid time.
  if (!isTime(at) || (removalsAfter !== null && !isTime(removalsAfter))) return null
  return {
    resource,
    organizationId,
    epoch: bytes.readUInt32BE(25),
    position: { at, id: uuidText(bytes.toString('hex', 37, 53)) },
    removalsAfter,
  }
}

/** As hex, which is faster than creating a buffer. */
function checksum(bytes: Buffer): string {
  return hash('sha256', bytes.subarray(0, checkedLength), 'hex').slice(0, 16)
}

/** A resource in a cursor: the first eight bytes of its SHA-256, as hex. */
export function resourceKey(resource: string): string {
  return hash('sha256', resource).slice(0, 16)
}

/** Of kinds, and of the sets of kinds in recent cursors. */
const knownKeys = new LruMap<string, string>(256)

function knownKey(resource: string): string {
  return knownKeys.getOrMake(resource, () => resourceKey(resource))
}

function uuidHex(id: string): string {
  return id.replaceAll('-', '')
}

function uuidText(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
