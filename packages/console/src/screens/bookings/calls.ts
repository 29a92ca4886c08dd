import type { BookingCancel, BookingFilters, BookingReschedule } from '@deskwire/sdk'
import { answerOf, api } from '../../api/client.ts'
import type { Booking } from '../desk/objects.ts'
import type { BookingMove } from './moves.ts'

export type BookingQuery = BookingFilters

/** The form has the fields of the move; the service validates them. */
export function moveBooking(id: string, move: BookingMove, body: object, ifMatch: string): Promise<Booking> {
  const { bookings } = api()
  const moves = {
    confirm: () => bookings.confirm(id, { ifMatch }),
    reject: () => bookings.reject(id, body, { ifMatch }),
    cancel: () => bookings.cancel(id, body as BookingCancel, { ifMatch }),
    reschedule: () => bookings.reschedule(id, body as BookingReschedule, { ifMatch }),
    complete: () => bookings.complete(id, { ifMatch }),
    'no-show': () => bookings.noShow(id, { ifMatch }),
  }
  return answerOf(moves[move]())
}

/** What a booking can conflict with, whatever else is filtered. */
export function ofAssignee({ assigneeId }: BookingQuery): BookingQuery {
  return assigneeId === undefined ? {} : { assigneeId }
}

/** Bookings that are read at most; the list has more. */
export const readAtMost = 500

/** Bookings that reach into the time between two others, or after one. `total`: how many there are. */
export async function readBetween(
  from: Date,
  to: Date | null,
  filters: BookingQuery,
  signal: AbortSignal,
): Promise<{ readonly bookings: readonly Booking[]; readonly total: number }> {
  const bookings: Booking[] = []
  for (;;) {
    const query = {
      ...filters,
      endAfter: from.toISOString(),
      ...(to === null ? {} : { startBefore: to.toISOString() }),
      limit: 100,
      after: bookings.at(-1)?.id,
    }
    const { data, pagination } = await answerOf(api().bookings.list(query, { signal }).page())
    bookings.push(...data)
    if (!pagination.hasMore || bookings.length >= readAtMost) return { bookings, total: pagination.total }
  }
}
