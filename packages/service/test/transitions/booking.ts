import { makeBooking } from '../../../testbed/desk.ts'
import { type Cell, type Machine, type Move, must, no, type Stage } from './machine.ts'

const hour = 3_600_000

const act =
  (action: string, body?: object): Move =>
  ({ api }, id) =>
    api.post(`/v1/bookings/${id}/${action}`, body)
const confirm = act('confirm')

/** A booking that starts after so long, and these moves on it. */
async function make(stage: Stage, startsIn: number, moves: readonly Move[]): Promise<string> {
  // The service says what time it is: whatever it makes now carries it.
  const now = Date.parse((await makeBooking(stage.api)).createdAt)
  const [startAt, endAt] = [now + startsIn, now + startsIn + hour].map((at) => new Date(at).toISOString())
  const { id } = await makeBooking(stage.api, { startAt, endAt })
  for (const move of moves) await must(move(stage, id))
  return id
}

/** One that is far away, after these moves. */
const via =
  (...moves: readonly Move[]) =>
  (stage: Stage) =>
    make(stage, 10_000 * hour, moves)

/** One that has begun after these moves, and before what follows. */
const begun =
  (moves: readonly Move[], ...then: readonly Move[]) =>
  async (stage: Stage): Promise<string> => {
    const id = await make(stage, hour, moves)
    stage.advance(hour)
    for (const move of then) await must(move(stage, id))
    return id
  }

const other = { startAt: '2040-01-01T09:00:00.000Z', endAt: '2040-01-01T10:00:00.000Z' }

/** Nothing can be done from here. */
const none = (status: string): Readonly<Record<string, Cell>> => ({
  confirm: no(status),
  reject: no(status),
  cancel: no(status),
  reschedule: no(status),
  complete: no(status),
  'no-show': no(status),
})

const pending: Readonly<Record<string, Cell>> = {
  confirm: 'confirmed: booking.confirmed',
  reject: 'rejected: booking.rejected',
  cancel: 'cancelled: booking.cancelled',
  reschedule: 'pending: booking.rescheduled',
  complete: no('pending', 'confirm', 'reject', 'cancel', 'reschedule'),
  'no-show': no('pending', 'confirm', 'reject', 'cancel', 'reschedule'),
}

export const booking: Machine = {
  kind: 'booking',
  plural: 'bookings',
  stateOf: ({ status }) => status,
  states: {
    'pending, before it starts': via(),
    'pending, begun': begun([]),
    'confirmed, before it starts': via(confirm),
    'confirmed, begun': begun([confirm]),
    cancelled: via(act('cancel', { by: 'teammate' })),
    'cancelled, begun': begun([act('cancel', { by: 'system' })]),
    rejected: via(act('reject')),
    'rejected, begun': begun([act('reject', { reason: 'full' })]),
    completed: begun([confirm], act('complete')),
    no_show: begun([confirm], act('no-show')),
  },
  moves: {
    confirm,
    reject: act('reject', { reason: 'full' }),
    cancel: act('cancel', { by: 'customer' }),
    reschedule: act('reschedule', other),
    complete: act('complete'),
    'no-show': act('no-show'),
  },
  table: {
    'pending, before it starts': pending,
    'pending, begun': pending,
    'confirmed, before it starts': {
      confirm: no('confirmed', 'cancel', 'reschedule'),
      reject: no('confirmed', 'cancel', 'reschedule'),
      cancel: 'cancelled: booking.cancelled',
      reschedule: 'confirmed: booking.rescheduled',
      complete: no('confirmed', 'cancel', 'reschedule'),
      'no-show': no('confirmed', 'cancel', 'reschedule'),
    },
    'confirmed, begun': {
      confirm: no('confirmed', 'cancel', 'reschedule', 'complete', 'no-show'),
      reject: no('confirmed', 'cancel', 'reschedule', 'complete', 'no-show'),
      cancel: 'cancelled: booking.cancelled',
      reschedule: 'confirmed: booking.rescheduled',
      complete: 'completed: booking.completed',
      'no-show': 'no_show: booking.no_show',
    },
    cancelled: none('cancelled'),
    'cancelled, begun': none('cancelled'),
    rejected: none('rejected'),
    'rejected, begun': none('rejected'),
    completed: {
      confirm: no('completed', 'no-show'),
      reject: no('completed', 'no-show'),
      cancel: no('completed', 'no-show'),
      reschedule: no('completed', 'no-show'),
      complete: no('completed', 'no-show'),
      'no-show': 'no_show: booking.no_show',
    },
    no_show: {
      confirm: no('no_show', 'complete'),
      reject: no('no_show', 'complete'),
      cancel: no('no_show', 'complete'),
      reschedule: no('no_show', 'complete'),
      complete: 'completed: booking.completed',
      'no-show': no('no_show', 'complete'),
    },
  },
}
