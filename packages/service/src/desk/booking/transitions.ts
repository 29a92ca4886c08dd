/** What happens to a booking: pure functions from one state to the next (specification 4.7). */
import { type FieldError, type Problem, validationFailed } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { type RuleContext, refuseMove } from '../../kinds/model/kind.ts'
import type { Booking } from './fields.ts'

export type BookingMove = 'confirm' | 'reject' | 'cancel' | 'reschedule' | 'complete' | 'no-show'

/** A booking can be completed or marked as a no-show from its start on. */
const moves: Readonly<Record<Booking['status'], readonly BookingMove[]>> = {
  pending: ['confirm', 'reject', 'cancel', 'reschedule'],
  confirmed: ['cancel', 'reschedule', 'complete', 'no-show'],
  cancelled: [],
  completed: ['no-show'],
  no_show: ['complete'],
  rejected: [],
}

const fromStartOn: ReadonlySet<BookingMove> = new Set(['complete', 'no-show'])

function moved(
  before: Booking,
  move: BookingMove,
  now: string,
  after: () => Booking,
): Result<Booking, Problem> {
  const inTime = moves[before.status].filter((one) => !fromStartOn.has(one) || now >= before.startAt)
  if (inTime.includes(move)) return ok(after())
  const early = moves[before.status].includes(move) ? ` and starts at ${before.startAt}` : ''
  return refuseMove({ kind: 'booking', state: before.status + early }, move, inTime)
}

/** What an import gives of a booking in one of these states only. */
const pasts = {
  confirmedAt: ['confirmed', 'cancelled', 'completed', 'no_show'],
  completedAt: ['completed'],
  cancelledAt: ['cancelled'],
  cancelledBy: ['cancelled'],
  cancellationReason: ['cancelled'],
  rejectionReason: ['rejected'],
} as const satisfies Partial<Record<keyof Booking, readonly Booking['status'][]>>

/** It must end after it starts; a confirmed one was confirmed now, unless an import says when. */
export function createBooking(draft: Booking, { now }: RuleContext): Result<Booking, Problem> {
  const { startAt, endAt, status, completedAt } = draft
  const errors = endAt > startAt ? [] : [endsTooEarly]
  for (const [field, statuses] of Object.entries(pasts))
    if (draft[field as keyof typeof pasts] !== null && !(statuses as readonly string[]).includes(status))
      errors.push(invalid(`/${field}`, `must be null: the booking is ${status}`))
  if (status === 'completed' && (completedAt === null || completedAt < startAt))
    errors.push(invalid('/completedAt', 'must be a time from startAt on: the booking is completed'))
  if (errors.length > 0) return fail(validationFailed(errors))
  const wasConfirmed = status === 'confirmed' || status === 'completed' || status === 'no_show'
  return ok({
    ...draft,
    confirmedAt: draft.confirmedAt ?? (wasConfirmed ? now : null),
    cancelledAt: draft.cancelledAt ?? (status === 'cancelled' ? now : null),
  })
}

function invalid(pointer: string, detail: string): FieldError {
  return { pointer, code: 'invalid_value', detail }
}

const endsTooEarly = invalid('/endAt', 'must be later than startAt')

export function confirm(before: Booking, { now }: RuleContext): Result<Booking, Problem> {
  return moved(before, 'confirm', now, () => ({ ...before, status: 'confirmed', confirmedAt: now }))
}

export function reject(
  before: Booking,
  reason: string | null,
  { now }: RuleContext,
): Result<Booking, Problem> {
  return moved(before, 'reject', now, () => ({ ...before, status: 'rejected', rejectionReason: reason }))
}

export function cancel(
  before: Booking,
  request: { readonly by: NonNullable<Booking['cancelledBy']>; readonly reason: string | null },
  { now }: RuleContext,
): Result<Booking, Problem> {
  return moved(before, 'cancel', now, () => ({
    ...before,
    status: 'cancelled',
    cancelledBy: request.by,
    cancellationReason: request.reason,
    cancelledAt: now,
  }))
}

/** The end of a booking that lasts as long as this one, whatever clocks show in between. */
function endOf(before: Booking, startAt: string): string {
  return formatTimestamp(Date.parse(startAt) + Date.parse(before.endAt) - Date.parse(before.startAt))
}

/** The same times are no move. */
export function reschedule(
  before: Booking,
  to: { readonly startAt: string; readonly endAt: string | null },
  { now }: RuleContext,
): Result<Booking, Problem> {
  const { startAt } = to
  const endAt = to.endAt ?? endOf(before, startAt)
  if (endAt <= startAt) return fail(validationFailed([endsTooEarly]))
  return moved(before, 'reschedule', now, () => {
    if (startAt === before.startAt && endAt === before.endAt) return before
    const rescheduleCount = before.rescheduleCount + 1
    return { ...before, startAt, endAt, previousStartAt: before.startAt, rescheduleCount }
  })
}

/** Also corrects a no-show. */
export function complete(before: Booking, { now }: RuleContext): Result<Booking, Problem> {
  return moved(before, 'complete', now, () => ({ ...before, status: 'completed', completedAt: now }))
}

/** Also corrects a completion. */
export function markNoShow(before: Booking, { now }: RuleContext): Result<Booking, Problem> {
  return moved(before, 'no-show', now, () => ({ ...before, status: 'no_show', completedAt: null }))
}

const eventOf = {
  pending: 'booking.created',
  confirmed: 'booking.confirmed',
  cancelled: 'booking.cancelled',
  completed: 'booking.completed',
  no_show: 'booking.no_show',
  rejected: 'booking.rejected',
} as const satisfies Readonly<Record<Booking['status'], string>>

/** Creation, other times and another status have events; other fields show in the sync only. */
export function bookingEvents(before: Booking | null, after: Booking): readonly string[] {
  if (before === null) return ['booking.created']
  if (after.status !== before.status) return [eventOf[after.status]]
  return after.rescheduleCount === before.rescheduleCount ? [] : ['booking.rescheduled']
}
