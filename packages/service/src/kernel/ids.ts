/** Ids: UUIDv7, which begin with a time and so sort by it. */
import { v7 } from 'uuid'
import type { Clock } from './timestamps.ts'

/** With the clock's time (specification 1.3). */
export function newId(clock: Clock): string {
  return newIdAt(clock.now())
}

/** Of that time, in milliseconds since the Unix epoch. */
export function newIdAt(milliseconds: number): string {
  return v7({ msecs: milliseconds })
}

/** The lowest UUIDv7 of a millisecond since the Unix epoch: later ids are not below it. */
export function firstIdAt(milliseconds: number): string {
  const time = Math.max(0, milliseconds).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** In milliseconds since the Unix epoch: the first 48 bits of a UUIDv7. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** Below every id. With it, a position means "later than `at` minus one". */
export const nilUuid = '00000000-0000-0000-0000-000000000000'

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** In lower case when `text` is a UUID of any version in its 36-character form, otherwise null. */
export function parseId(text: string): string | null {
  return canonical.test(text) ? text.toLowerCase() : null
}
