/** Times of bookings in the user's time zone, and their positions in a week. */

import { addDays } from '../../design/local-time.ts'
import { locale } from '../../design/time.tsx'
import type { Booking } from '../desk/objects.ts'

type Times = Pick<Booking, 'startAt' | 'endAt'>

const dayAndTime = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
} as const
const range = new Intl.DateTimeFormat(locale, dayAndTime)
const rangeWithYear = new Intl.DateTimeFormat(locale, { ...dayAndTime, year: 'numeric' })
const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })

/** `Mon 23 Nov, 09:00 – 09:30`, with the year unless it is this one. */
export function sayWhen({ startAt, endAt }: Times): string {
  const [start, end] = [new Date(startAt), new Date(endAt)]
  const format = start.getFullYear() === new Date().getFullYear() ? range : rangeWithYear
  return format.formatRange(start, end)
}

/** `Mon 23 Nov, 09:00`, with the year unless it is this one. */
export function sayMoment(at: string): string {
  const moment = new Date(at)
  return (moment.getFullYear() === new Date().getFullYear() ? range : rangeWithYear).format(moment)
}

const days = { day: 'numeric', month: 'long' } as const
const dayRange = new Intl.DateTimeFormat(locale, days)
const dayRangeWithYear = new Intl.DateTimeFormat(locale, { ...days, year: 'numeric' })

/** `23–29 November`, `23 November`; with the year unless it is this one. */
export function sayDays(first: Date, last: Date): string {
  const isThisYear = [first, last].every((day) => day.getFullYear() === new Date().getFullYear())
  return (isThisYear ? dayRange : dayRangeWithYear).formatRange(first, last)
}

/** In the booking's time zone; null where that shows the same time. */
export function sayWhenThere({ startAt, endAt, timezone }: Times & { timezone: string }): string | null {
  try {
    const there = new Intl.DateTimeFormat(locale, { ...dayAndTime, timeZone: timezone })
    const words = there.formatRange(new Date(startAt), new Date(endAt))
    return words === range.formatRange(new Date(startAt), new Date(endAt)) ? null : words
  } catch {
    // The browser does not know this time zone.
    return null
  }
}

export function sayClock(at: Date): string {
  return clock.format(at)
}

const weekday = { weekday: 'short', hour: '2-digit', minute: '2-digit' } as const
const weekdayHere = new Intl.DateTimeFormat(locale, weekday)

/** `15:00 New York`, with the day where it is another; null where the clock shows the same. */
export function sayClockThere(at: Date, timeZone: string): string | null {
  try {
    const there = new Intl.DateTimeFormat(locale, { ...weekday, timeZone })
    if (there.format(at) === weekdayHere.format(at)) return null
    const [hereDay, thereDay] = [weekdayHere, there].map((clock) => partOf(clock, at, 'weekday'))
    const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone }).format(at)
    const city = timeZone.split('/').at(-1)?.replaceAll('_', ' ')
    return `${hereDay === thereDay ? '' : `${thereDay} `}${time} ${city}`
  } catch {
    // The browser does not know this time zone.
    return null
  }
}

function partOf(
  format: Intl.DateTimeFormat,
  at: Date,
  type: Intl.DateTimeFormatPartTypes,
): string | undefined {
  return format.formatToParts(at).find((part) => part.type === type)?.value
}

/** It does not take place. */
export function isCalledOff(status: string): boolean {
  return status === 'cancelled' || status === 'rejected'
}

/** The ids of bookings that overlap another of the same assignee. */
export function conflictsOf(
  bookings: readonly (Times & Pick<Booking, 'id' | 'assigneeId' | 'status'>)[],
): ReadonlySet<string> {
  const found = new Set<string>()
  const held = bookings.filter(({ assigneeId, status }) => assigneeId !== null && !isCalledOff(status))
  for (const ofOne of Map.groupBy(held, ({ assigneeId }) => assigneeId).values()) {
    const inOrder = ofOne.sort((a, b) => Date.parse(a.startAt) - Date.parse(b.startAt))
    let last = inOrder[0]
    for (const one of inOrder.slice(1)) {
      if (last !== undefined && Date.parse(one.startAt) < Date.parse(last.endAt)) {
        found.add(last.id).add(one.id)
      }
      if (last === undefined || Date.parse(one.endAt) > Date.parse(last.endAt)) last = one
    }
  }
  return found
}

/** A booking, or the part of it that is on one day. */
export interface Placed<T> {
  readonly booking: T
  /** Hours since the midnight of that day, by the wall clock. */
  readonly from: number
  readonly to: number
  /** Its column among bookings that overlap. */
  readonly column: number
  readonly columns: number
}

/** The shortest drawn length, in hours. */
const least = 0.5

/** The bookings of a day, in order, with their columns. */
export function placeOn<T extends Times>(day: Date, bookings: readonly T[]): readonly Placed<T>[] {
  const next = addDays(day, 1)
  const onDay = bookings
    .filter(({ startAt, endAt }) => Date.parse(startAt) < next.getTime() && Date.parse(endAt) > day.getTime())
    .map((booking) => {
      const from = hourOf(booking.startAt, day, next)
      return { booking, from, to: Math.max(hourOf(booking.endAt, day, next), Math.min(from + least, 24)) }
    })
    .sort((a, b) => a.from - b.from || b.to - a.to)
  const placed: Placed<T>[] = []
  // Bookings that overlap share the width.
  let group: (typeof onDay)[number][] = []
  let groupEnd = 0
  function close(): void {
    const ends: number[] = []
    const columns = group.map(({ from, to }) => {
      const free = ends.findIndex((end) => end <= from)
      const column = free === -1 ? ends.length : free
      ends[column] = to
      return column
    })
    for (const [n, one] of group.entries())
      placed.push({ ...one, column: columns[n] ?? 0, columns: ends.length })
    group = []
  }
  for (const one of onDay) {
    if (group.length > 0 && one.from >= groupEnd) close()
    groupEnd = group.length === 0 ? one.to : Math.max(groupEnd, one.to)
    group.push(one)
  }
  close()
  return placed
}

function hourOf(at: string, day: Date, next: Date): number {
  const moment = new Date(at)
  if (moment <= day) return 0
  if (moment >= next) return 24
  return moment.getHours() + moment.getMinutes() / 60
}
