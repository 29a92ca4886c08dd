/** Timestamps (specification 1.3). Inside the service: milliseconds since the Unix epoch. */

/** Everything that needs the time takes a Clock, so that tests can move it. */
export interface Clock {
  now(): number
}

/** Returns a function for the milliseconds since the start, unaffected by changes of the clock. */
export function stopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

export const systemClock: Clock = { now: () => Date.now() }

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/

/** PostgreSQL, JavaScript and RFC 3339 can all represent these years. */
const earliest = Date.parse('0001-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

export function isTime(milliseconds: number): boolean {
  return milliseconds >= earliest && milliseconds <= latest
}

export function formatTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Milliseconds since the Unix epoch, rounded down; null unless `text` is an RFC 3339 date-time with an offset. */
export function parseTimestamp(text: string): number | null {
  const match = rfc3339.exec(text)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, fraction = '', offset = 'Z'] = match
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
  const utc = Date.parse(wall)
  // Date.parse reads 02-30 as a day in March; the round trip detects it.
  if (Number.isNaN(utc) || new Date(utc).toISOString() !== wall) return null
  const milliseconds = utc - offsetMilliseconds(offset)
  return isTime(milliseconds) ? milliseconds : null
}

function offsetMilliseconds(offset: string): number {
  if (offset === 'Z' || offset === 'z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (hours > 23 || minutes > 59) return Number.NaN
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
