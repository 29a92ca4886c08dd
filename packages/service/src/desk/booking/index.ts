import { choice, text } from '../../kernel/fields/fields.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { action } from '../../kinds/model/kind.ts'
import { type Booking, bookingFields, cancellers, rescheduleFields } from './fields.ts'
import {
  bookingEvents,
  cancel,
  complete,
  confirm,
  createBooking,
  markNoShow,
  reject,
  reschedule,
} from './moves.ts'

const reason = text({ max: 2_000, description: 'Why.' })

/** A time agreed with a customer (specification 4.7). */
export const booking = defineKind({
  name: 'booking',
  plural: 'bookings',
  description: 'A time agreed with a customer.',
  fields: bookingFields,
  events: {
    'booking.created': 'a booking is made',
    'booking.confirmed': 'it is confirmed',
    'booking.rescheduled': 'it is moved to another time',
    'booking.cancelled': 'it is cancelled',
    'booking.completed': 'it took place',
    'booking.no_show': 'the customer did not come',
    'booking.rejected': 'it is turned down',
    'booking.deleted': 'a booking is deleted, by itself or with its customer',
  },
  removedEvent: 'booking.deleted',
  foundBy: [{ plural: 'customers', phrase: 'its customer', column: 'customer_id' }],
  periods: {
    owner: 'assigneeId',
    starts: 'startAt',
    ends: 'endAt',
    state: 'status',
    taking: ['pending', 'confirmed'],
  },
  rules: { create: createBooking, events: bookingEvents },
  actions: {
    confirm: action({
      description: 'Confirms a pending booking.',
      fields: {},
      apply: (before: Booking, _input, context) => confirm(before, context),
    }),
    reject: action({
      description: 'Turns a pending booking down.',
      fields: { reason },
      apply: (before: Booking, input, context) => reject(before, input.reason, context),
    }),
    cancel: action({
      description: 'Cancels a booking that has not taken place.',
      fields: { by: choice(cancellers, { required: true, description: 'Who cancels it.' }), reason },
      apply: (before: Booking, input, context) => cancel(before, input, context),
    }),
    reschedule: action({
      description: 'Moves it to another time; it stays pending or confirmed.',
      fields: rescheduleFields,
      apply: (before: Booking, input, context) => reschedule(before, input, context),
    }),
    complete: action({
      description: 'It took place: from startAt on. Corrects a no-show too.',
      fields: {},
      apply: (before: Booking, _input, context) => complete(before, context),
    }),
    'no-show': action({
      description: 'The customer did not come: from startAt on. Corrects a completion too.',
      fields: {},
      apply: (before: Booking, _input, context) => markNoShow(before, context),
    }),
  },
  example: {
    customerId: '01980000-0000-7000-8000-000000000001',
    title: 'Fitting',
    startAt: '2026-02-02T09:00:00.000Z',
    endAt: '2026-02-02T09:30:00.000Z',
    timezone: 'Europe/Berlin',
  },
})
