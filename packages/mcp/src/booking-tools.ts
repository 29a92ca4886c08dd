/** Tools for bookings. */
import { type Api, refusal } from './api.ts'
import { id, instant, objectOf, propertiesOf, requiredBy, type Tool, type ToolParts, whole } from './tool.ts'
import { writeTool } from './write-tool.ts'

export function bookingTools(parts: ToolParts): readonly Tool[] {
  const bookingId = { bookingId: id('The booking.') }
  return [
    findSlot(parts),
    writeTool(parts, {
      name: 'book',
      title: 'Book a time',
      description: 'Agrees a time with a customer. find_slot shows what is free.',
      kind: 'bookings',
      effect: 'adds',
      properties: propertiesOf(parts, 'BookingCreate'),
      required: requiredBy(parts, 'BookingCreate'),
      write: ({ dryRun, idempotencyKey, ...body }) => ({ body }),
    }),
    writeTool(parts, {
      name: 'move_booking',
      title: 'Move a booking',
      description: 'Moves a booking that is pending or confirmed to another time.',
      kind: 'bookings',
      action: 'reschedule',
      effect: 'changes',
      properties: { ...bookingId, ...propertiesOf(parts, 'BookingReschedule') },
      required: ['bookingId', ...requiredBy(parts, 'BookingReschedule')],
      write: ({ bookingId, startAt, endAt }) => ({
        id: bookingId,
        body: { startAt, endAt },
      }),
    }),
    writeTool(parts, {
      name: 'cancel_booking',
      title: 'Cancel a booking',
      description: 'Cancels a booking that has not taken place. It cannot be undone: book again instead.',
      kind: 'bookings',
      action: 'cancel',
      effect: 'changes',
      properties: { ...bookingId, ...propertiesOf(parts, 'BookingCancel') },
      required: ['bookingId', ...requiredBy(parts, 'BookingCancel')],
      write: ({ bookingId, by, reason }) => ({
        id: bookingId,
        body: { by, ...(reason === undefined ? {} : { reason }) },
      }),
    }),
  ]
}

const minute = 60_000
const day = 24 * 60 * minute
/** A search of more days reads more bookings than a call may. */
const widest = 31 * day
/** Bookings that a search reads at most. */
const maxRead = 2_000

interface Booking {
  readonly id: string
  readonly startAt: string
  readonly endAt: string
  readonly status: string
}

function findSlot({ now: clock }: ToolParts): Tool {
  return {
    name: 'find_slot',
    title: 'Find a free time',
    description:
      'Shows times between from and to, later than now, in which no booking is pending or confirmed, for one teammate or for the whole desk. The desk knows no opening hours: ask for hours that are open.',
    scopes: ['bookings:read'],
    effect: 'reads',
    input: objectOf(
      {
        from: instant('The earliest beginning.'),
        to: instant('The latest end, at most 31 days later.'),
        minutes: whole('How long it takes.', 1, 1_440, 30),
        everyMinutes: whole('Beginnings are so many minutes apart, counted from `from`.', 1, 1_440, 30),
        assigneeId: id('The teammate who takes it. Default: no booking of anyone.'),
        limit: whole('Times at most.', 1, 100, 10),
      },
      ['from', 'to'],
    ),
    output: objectOf(
      {
        slots: {
          type: 'array',
          items: objectOf({ startAt: instant('The beginning.'), endAt: instant('The end.') }, [
            'startAt',
            'endAt',
          ]),
          description: 'Free times, earliest first.',
        },
      },
      ['slots'],
    ),
    async run({ from, to, minutes = 30, everyMinutes = 30, assigneeId, limit = 10 }, api) {
      const [begin, end] = [Date.parse(from), Date.parse(to)]
      if (!(begin < end) || end - begin > widest)
        throw refusal('to must be later than from, by 31 days at most.')
      const now = clock()
      if (end <= now) throw refusal('to must be later than now.')
      const every = everyMinutes * minute
      const first = begin + Math.max(0, Math.ceil((now - begin) / every)) * every
      const taken = await takenTimes(api, first, end, assigneeId)
      const slots: { startAt: string; endAt: string }[] = []
      for (let at = first; at + minutes * minute <= end && slots.length < limit; at += every) {
        const until = at + minutes * minute
        if (taken.some((time) => time.begin < until && time.end > at)) continue
        slots.push({ startAt: new Date(at).toISOString(), endAt: new Date(until).toISOString() })
      }
      return { slots }
    },
  }
}

async function takenTimes(
  api: Api,
  begin: number,
  end: number,
  assigneeId: string | undefined,
): Promise<readonly { begin: number; end: number }[]> {
  const [endAfter, startBefore] = [begin, end].map((time) => new Date(time).toISOString())
  const taken: { begin: number; end: number }[] = []
  let after: string | undefined
  for (let read = 0; read < maxRead; read += 100) {
    const page = await api.get('/bookings', { endAfter, startBefore, assigneeId, limit: 100, after })
    const { data, pagination } = page as unknown as {
      data: readonly Booking[]
      pagination: { hasMore: boolean }
    }
    for (const { status, startAt, endAt } of data)
      if (status === 'pending' || status === 'confirmed')
        taken.push({ begin: Date.parse(startAt), end: Date.parse(endAt) })
    after = data.at(-1)?.id
    if (!pagination.hasMore) return taken
  }
  throw refusal(`There are more than ${maxRead} bookings then: ask for fewer days.`)
}
