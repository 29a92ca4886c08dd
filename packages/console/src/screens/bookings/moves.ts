/** The moves that a booking allows (specification 4.7). A test compares them with the service's rules. */

export type BookingMove = 'confirm' | 'reject' | 'cancel' | 'reschedule' | 'complete' | 'no-show'

const moves: Readonly<Record<string, readonly BookingMove[]>> = {
  pending: ['confirm', 'reject', 'reschedule', 'cancel'],
  confirmed: ['complete', 'no-show', 'reschedule', 'cancel'],
  cancelled: [],
  completed: ['no-show'],
  no_show: ['complete'],
  rejected: [],
}

/** Undefined: the status stays. */
export const becomes: Readonly<Record<BookingMove, string | undefined>> = {
  confirm: 'confirmed',
  reject: 'rejected',
  cancel: 'cancelled',
  reschedule: undefined,
  complete: 'completed',
  'no-show': 'no_show',
}

/** Allowed from the start of the booking on. */
const fromStartOn: ReadonlySet<BookingMove> = new Set(['complete', 'no-show'])

/** At a time in milliseconds since the Unix epoch. */
export function bookingMoves(
  { status, startAt }: { readonly status: string; readonly startAt: string },
  now: number,
): readonly BookingMove[] {
  return (moves[status] ?? []).filter((move) => !fromStartOn.has(move) || now >= Date.parse(startAt))
}
