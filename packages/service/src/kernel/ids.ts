import { v7 } from 'uuid'
import type { Clock } from './clock.ts'

/** A new UUIDv7 whose time part is the clock's (decisions: ids are UUIDv7). */
export function newId(clock: Clock): string {
  return v7({ msecs: clock.now() })
}

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The id in lower case when `text` is a UUID of any version in its 36-character form, otherwise null. */
export function parseId(text: string): string | null {
  return canonical.test(text) ? text.toLowerCase() : null
}
