/** What can become of a booking as it stands (specification 4.7). A test holds this against the service's own rules. */

export type BookingMove = 'confirm' | 'reject' | 'cancel' | 'reschedule' | 'complete' | 'no-show'

const moves: Readonly<Record<string, readonly BookingMove[]>> = {
  pending: ['confirm', 'reject', 'reschedule', 'cancel'],
  confirmed: ['complete', 'no-show', 'reschedule', 'cancel'],
  cancelled: [],
  completed: ['no-show'],
  no_show: ['complete'],
  rejected: [],
}

/** The status that a move leads to; none where it stays. */
export const becomes: Readonly<Record<BookingMove, string | undefined>> = {
  confirm: 'confirmed',
  reject: 'rejected',
  cancel: 'cancelled',
  reschedule: undefined,
  complete: 'completed',
  'no-show': 'no_show',
}

/** What it came to can be said from its start on. */
const fromStartOn: ReadonlySet<BookingMove> = new Set(['complete', 'no-show'])

/** The moves that are allowed at a moment, in milliseconds since the Unix epoch. */
export function bookingMoves(
  { status, startAt }: { readonly status: string; readonly startAt: string },
  now: number,
): readonly BookingMove[] {
  return (moves[status] ?? []).filter((move) => !fromStartOn.has(move) || now >= Date.parse(startAt))
}
