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
} from './transitions.ts'

const reason = text({ max: 2_000, description: 'Why.' })

const only = (type: string) => ({ always: [type] })
const rescheduled = only('booking.rescheduled')
const cancelled = only('booking.cancelled')

const exampleReason = 'The parcel was found.'
const exampleTimes = { startAt: '2026-02-03T14:00:00.000Z', endAt: '2026-02-03T14:30:00.000Z' }
const exampleNow = '2026-03-01T12:00:00.000Z'

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
  documentedEvents: {
    fields: {
      startAt: rescheduled,
      endAt: rescheduled,
      status: {
        sometimes: [
          'booking.confirmed',
          'booking.rejected',
          'booking.cancelled',
          'booking.completed',
          'booking.no_show',
        ],
      },
      cancelledBy: cancelled,
      cancellationReason: cancelled,
      rejectionReason: only('booking.rejected'),
      previousStartAt: rescheduled,
      rescheduleCount: rescheduled,
      confirmedAt: only('booking.confirmed'),
      completedAt: { sometimes: ['booking.completed', 'booking.no_show'] },
      cancelledAt: cancelled,
    },
    examples: {
      'booking.confirmed': { status: 'confirmed', confirmedAt: exampleNow },
      'booking.rescheduled': {
        ...exampleTimes,
        previousStartAt: '2026-02-02T09:00:00.000Z',
        rescheduleCount: 1,
      },
      'booking.cancelled': { status: 'cancelled', cancelledBy: 'customer', cancelledAt: exampleNow },
      'booking.completed': { status: 'completed', confirmedAt: exampleNow, completedAt: exampleNow },
      'booking.no_show': { status: 'no_show', confirmedAt: exampleNow },
      'booking.rejected': { status: 'rejected' },
    },
  },
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
      events: ['booking.confirmed'],
      apply: (before: Booking, _input, context) => confirm(before, context),
    }),
    reject: action({
      description: 'Turns a pending booking down.',
      fields: { reason },
      example: { reason: exampleReason },
      events: ['booking.rejected'],
      apply: (before: Booking, input, context) => reject(before, input.reason, context),
    }),
    cancel: action({
      description: 'Cancels a booking that has not taken place.',
      fields: { by: choice(cancellers, { required: true, description: 'Who cancels it.' }), reason },
      example: { by: 'customer', reason: exampleReason },
      events: ['booking.cancelled'],
      apply: (before: Booking, input, context) => cancel(before, input, context),
    }),
    reschedule: action({
      description: 'Moves it to another time; it stays pending or confirmed.',
      fields: rescheduleFields,
      example: exampleTimes,
      events: ['booking.rescheduled'],
      apply: (before: Booking, input, context) => reschedule(before, input, context),
    }),
    complete: action({
      description: 'It took place: from startAt on. Corrects a no-show too.',
      fields: {},
      events: ['booking.completed'],
      apply: (before: Booking, _input, context) => complete(before, context),
    }),
    'no-show': action({
      description: 'The customer did not come: from startAt on. Corrects a completion too.',
      fields: {},
      events: ['booking.no_show'],
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
