import { type Changed, change, type Patch } from '../../api/change.ts'
import { answerOf, api, newIntent, type paths } from '../../api/client.ts'
import { type Booking, rowsOf, shown } from '../desk/objects.ts'
import { type BookingMove, becomes } from './moves.ts'

export type BookingQuery = NonNullable<paths['/v1/bookings']['get']['parameters']['query']>

export function readBooking(id: string, signal?: AbortSignal): Promise<Booking> {
  return answerOf(api.GET('/v1/bookings/{id}', { params: { path: { id } }, signal }))
}

export async function writeBooking(id: string, body: Patch, ifMatch: string): Promise<Booking> {
  const params = { path: { id }, header: { 'If-Match': ifMatch } }
  return shown(await answerOf(api.PATCH('/v1/bookings/{id}', { params, body })))
}

/** Makes a move based on the version that the user saw. A change of its status or times in between is a conflict. */
export function moveBooking(base: Booking, move: BookingMove, body: object): Promise<Changed<Booking>> {
  const { id, status, startAt, endAt } = base
  return change({
    base,
    patch: { status: becomes[move] ?? status, startAt, endAt, ...body },
    read: () => readBooking(id),
    write: async (_, ifMatch) => {
      const params = { path: { id }, header: { 'If-Match': ifMatch, 'Idempotency-Key': newIntent() } }
      // The form has the fields of the move; the service validates them.
      return shown(await answerOf(api.POST(`/v1/bookings/{id}/${move}`, { params, body: body as never })))
    },
  })
}

/** Bookings that a calendar shows at most; the list has more. */
const shownAtMost = 500

/** Bookings between two times, including those that began up to a day before. */
export async function readBetween(
  from: Date,
  to: Date,
  filters: BookingQuery,
  signal: AbortSignal,
): Promise<{ readonly bookings: readonly Booking[]; readonly total: number }> {
  const bookings: Booking[] = []
  const startAfter = new Date(from.getTime() - 86_400_000).toISOString()
  for (;;) {
    const query = {
      ...filters,
      startAfter,
      startBefore: to.toISOString(),
      limit: 100,
      offset: bookings.length,
    }
    const { data, pagination } = rowsOf(
      await answerOf(api.GET('/v1/bookings', { params: { query }, signal })),
    )
    bookings.push(...data)
    if (!pagination.hasMore || bookings.length >= shownAtMost) return { bookings, total: pagination.total }
  }
}
