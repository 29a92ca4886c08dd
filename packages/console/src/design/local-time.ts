/** Times in the user's zone, as fields of forms hold them. */

/** For `datetime-local`: in the user's time zone, with seconds where there are some. */
export function toLocal(at: string): string {
  const moment = new Date(at)
  const local = localMillis(moment)
  const length = local % 60_000 === 0 ? 16 : local % 1000 === 0 ? 19 : 23
  return new Date(local).toISOString().slice(0, length)
}

/**
 * The time in a `datetime-local`, or null. For an hour that the clock shows twice, it prefers that of `was`, the
 * field's first value.
 */
export function fromLocal(text: string, was?: unknown): string | null {
  const at = new Date(text)
  if (text === '' || Number.isNaN(at.getTime())) return null
  if (typeof was !== 'string') return at.toISOString()
  const before = new Date(was)
  const sameOffset = new Date(localMillis(at) - (localMillis(before) - before.getTime()))
  return (localMillis(sameOffset) === localMillis(at) ? sameOffset : at).toISOString()
}

/** The user's clock at a moment, as milliseconds of a clock without a time zone. */
function localMillis(moment: Date): number {
  return moment.getTime() - moment.getTimezoneOffset() * 60_000
}

/** Europe/London. */
export const readersZone = Intl.DateTimeFormat().resolvedOptions().timeZone
