/** What the console offers to do with an object is what the service lets happen to it. */
import { expect, test } from 'vitest'
import * as booking from '../../service/src/desk/booking/transitions.ts'
import * as conversation from '../../service/src/desk/conversation/transitions.ts'
import { changeableWhenClosed, ticketMoves } from '../../service/src/desk/ticket/transitions.ts'
import { bookingMoves } from '../src/screens/bookings/moves.ts'
import * as shownConversations from '../src/screens/conversations/moves.ts'
import * as shownTickets from '../src/screens/tickets/moves.ts'

const now = '2026-06-01T12:00:00.000Z'
const context = { now } as Parameters<typeof booking.confirm>[1]

test('of tickets', () => {
  expect(shownTickets.ticketMoves).toEqual(ticketMoves)
  expect(shownTickets.changeableWhenClosed).toEqual(changeableWhenClosed)
})

test.each([
  ['open', 'ai'],
  ['open', 'human'],
  ['resolved', 'ai'],
  ['resolved', 'human'],
] as const)('of a conversation that is %s and answered by %s', (status, handledBy) => {
  const before = { status, handledBy } as Parameters<typeof conversation.reopen>[0]
  const answers = {
    escalate: conversation.escalate(before, context),
    resolve: conversation.resolve(before, context),
    reopen: conversation.reopen(before),
  }
  const allowed = Object.entries(answers).flatMap(([move, { ok }]) => (ok ? [move] : []))
  expect([...shownConversations.movesOf({ status, handledBy })].sort()).toEqual(allowed.sort())
})

const starts = { 'has begun': '2026-06-01T11:00:00.000Z', 'is to come': '2026-06-01T13:00:00.000Z' }
const statuses = ['pending', 'confirmed', 'cancelled', 'completed', 'no_show', 'rejected'] as const

test.each(
  statuses.flatMap((status) =>
    Object.entries(starts).map(([when, startAt]) => [status, when, startAt] as const),
  ),
)('of a booking that is %s and %s', (status, _, startAt) => {
  const before = { status, startAt, endAt: '2026-06-01T14:00:00.000Z', rescheduleCount: 0 } as Parameters<
    typeof booking.confirm
  >[0]
  const to = { startAt: '2026-06-02T11:00:00.000Z', endAt: '2026-06-02T12:00:00.000Z' }
  const answers = {
    confirm: booking.confirm(before, context),
    reject: booking.reject(before, null, context),
    cancel: booking.cancel(before, { by: 'customer', reason: null }, context),
    reschedule: booking.reschedule(before, to, context),
    complete: booking.complete(before, context),
    'no-show': booking.markNoShow(before, context),
  }
  const allowed = Object.entries(answers).flatMap(([move, { ok }]) => (ok ? [move] : []))
  expect([...bookingMoves({ status, startAt }, Date.parse(now))].sort()).toEqual(allowed.sort())
})
