import type { BookingCancel, BookingFilters, BookingReschedule } from '@deskwire/sdk'
import { type Changed, change, type Patch } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import type { Booking } from '../desk/objects.ts'
import { type BookingMove, becomes } from './moves.ts'

export type BookingQuery = BookingFilters

export function readBooking(id: string, signal?: AbortSignal): Promise<Booking> {
  return answerOf(api().bookings.get(id, { signal }))
}

export async function writeBooking(id: string, body: Patch, ifMatch: string): Promise<Booking> {
  return await answerOf(api().bookings.update(id, body, { ifMatch }))
}

/** Makes a move based on the version that the user saw. A change of its status or times in between is a conflict. */
export function moveBooking(base: Booking, move: BookingMove, body: object): Promise<Changed<Booking>> {
  const { id, status, startAt, endAt } = base
  return change({
    base,
    patch: { status: becomes[move] ?? status, startAt, endAt, ...body },
    read: () => readBooking(id),
    write: async (_, ifMatch) => {
      const { bookings } = api()
      // The form has the fields of the move; the service validates them.
      const moves = {
        confirm: () => bookings.confirm(id, { ifMatch }),
        reject: () => bookings.reject(id, body, { ifMatch }),
        cancel: () => bookings.cancel(id, body as BookingCancel, { ifMatch }),
        reschedule: () => bookings.reschedule(id, body as BookingReschedule, { ifMatch }),
        complete: () => bookings.complete(id, { ifMatch }),
        'no-show': () => bookings.noShow(id, { ifMatch }),
      }
      return answerOf(moves[move]())
    },
  })
}

/** Bookings that a calendar shows at most; the list has more. */
const shownAtMost = 500

/** Bookings between two times, or from a time on, including those that began up to a day before. */
export async function readBetween(
  from: Date,
  to: Date | null,
  filters: BookingQuery,
  signal: AbortSignal,
): Promise<{ readonly bookings: readonly Booking[]; readonly total: number }> {
  const bookings: Booking[] = []
  const startAfter = new Date(from.getTime() - 86_400_000).toISOString()
  for (;;) {
    const query = {
      ...filters,
      startAfter,
      ...(to === null ? {} : { startBefore: to.toISOString() }),
      limit: 100,
      offset: bookings.length,
    }
    const { data, pagination } = await answerOf(api().bookings.list(query, { signal }).page())
    bookings.push(...data)
    if (!pagination.hasMore || bookings.length >= shownAtMost) return { bookings, total: pagination.total }
  }
}
