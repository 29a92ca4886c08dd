/** Times as the user types and reads them: `2026-11-26 14:00`, in 24 hours and the user's time zone. */

/** `2026-11-26 14:00` in the user's time zone, with seconds where there are some. */
export function toLocal(at: string): string {
  const moment = new Date(at)
  const local = localMillis(moment)
  const length = local % 60_000 === 0 ? 16 : local % 1000 === 0 ? 19 : 23
  return new Date(local).toISOString().slice(0, length).replace('T', ' ')
}

const typed = /^(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?))?$/

/** The end of a sentence about a text that is neither. */
export const timeProblem = 'must be a day, or a day and a time: 2026-11-26 14:00.'

/** A day and a time, or a day; null: neither. */
export function readLocal(text: string): Date | null {
  const [, day, time = '00:00'] = typed.exec(text.trim()) ?? []
  if (day === undefined) return null
  const at = new Date(`${day}T${time.replace(/^\d:/, '0$&')}`)
  // The 30th of February is no day.
  return Number.isNaN(at.getTime()) || sayDay(at) !== day ? null : at
}

/**
 * The time that was typed, or null; without an hour, midnight. For an hour that the clock shows twice, it prefers
 * that of `was`, the field's first value.
 */
export function fromLocal(text: string, was?: unknown): string | null {
  const at = readLocal(text)
  if (at === null) return null
  if (typeof was !== 'string') return at.toISOString()
  const before = new Date(was)
  const sameOffset = new Date(localMillis(at) - (localMillis(before) - before.getTime()))
  return (localMillis(sameOffset) === localMillis(at) ? sameOffset : at).toISOString()
}

/** An end after its start has moved, with the duration kept; undefined where there is none. */
export function endAfter(end: string, startBefore: string, start: string): string | undefined {
  const [ends, before, begins] = [end, startBefore, start].map((text) => readLocal(text)?.getTime())
  return ends !== undefined && before !== undefined && begins !== undefined && ends > before
    ? toLocal(new Date(ends + begins - before).toISOString())
    : undefined
}

/** The user's clock at a moment, as milliseconds of a clock without a time zone. */
function localMillis(moment: Date): number {
  // getTimezoneOffset leaves out the seconds of an offset.
  const clock = new Date(0)
  clock.setUTCFullYear(moment.getFullYear(), moment.getMonth(), moment.getDate())
  return clock.setUTCHours(
    moment.getHours(),
    moment.getMinutes(),
    moment.getSeconds(),
    moment.getMilliseconds(),
  )
}

/** Europe/London. */
export const readersZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** As a value of a field: empty where the browser cannot tell it (`Etc/Unknown`). */
export const fieldZone = readersZone === 'Etc/Unknown' ? '' : readersZone

/** A day at midnight; default: today. */
export function dayOf(day: string | undefined, now: Date): Date {
  const given = day === undefined ? null : new Date(`${day}T00:00:00`)
  return addDays(given === null || Number.isNaN(given.getTime()) ? now : given, 0)
}

/** The Monday, at midnight, of the week of a day; default: this week. */
export function mondayOf(day: string | undefined, now: Date): Date {
  const date = dayOf(day, now)
  return addDays(date, -((date.getDay() + 6) % 7))
}

/** Calendar days, whatever daylight saving time does. */
export function addDays(date: Date, days: number): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days)
}

/** `2026-11-23`. */
export function sayDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
