/** Where a drain has read its queue to. */
import { describe, expect, test } from 'vitest'
import { goBackTo, type ReadPosition, readOn, unread } from '../../src/delivery/queue/read-position.ts'

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const nil = '00000000-0000-0000-0000-000000000000'

/** A delivery that is due at `dueAt`, of an event of the commit with this stamp. */
const delivery = (dueAt: number, stamp = dueAt, n = 1, subjectKind = 'customer') => ({
  id: uuid(n),
  dueAt,
  event: { id: uuid(n), type: 'customer.created', createdAt: new Date(stamp).toISOString(), subjectKind },
})
const at = (time: number, id: string, rewinds = 7): ReadPosition => ({
  rewinds,
  readTo: { at: time, id },
  stamp: time,
})

describe('a claim', () => {
  test('that shows no stamp says nothing', () => {
    const claim = { rewinds: 7, deliveries: [], isFull: false, now: 1_000 }
    expect(readOn(unread, claim).readTo).toBeNull()
    const control = { ...claim, deliveries: [delivery(900, 900, 1, 'webhook')] }
    expect(readOn(unread, control).readTo).toBeNull()
  })

  test('has read to its latest stamp, and no further: a commit that it does not show may come right after', () => {
    const deliveries = [delivery(500, 100), delivery(600, 600), delivery(900, 300)]
    const claim = { rewinds: 7, deliveries, isFull: false, now: 1_000 }
    expect(readOn(unread, claim).readTo).toEqual({ at: 600, id: last })
  })

  test('that is full has read to its last delivery', () => {
    const deliveries = [delivery(500), delivery(600, 600, 5)]
    const claim = { rewinds: 7, deliveries, isFull: true, now: 1_000 }
    expect(readOn(unread, claim).readTo).toEqual({ at: 600, id: uuid(5) })
  })

  test('has not read past its own time, though it shows first attempts that are stamped later', () => {
    for (const isFull of [true, false]) {
      const claim = { rewinds: 7, deliveries: [delivery(500), delivery(1_300)], isFull, now: 1_000 }
      expect(readOn(unread, claim).readTo).toEqual({ at: 1_000, id: nil })
    }
  })

  test('never moves back what was read, as a clock that is set back would', () => {
    const claim = { rewinds: 7, deliveries: [], isFull: false, now: 400 }
    expect(readOn(at(600, uuid(5)), claim).readTo).toEqual({ at: 600, id: uuid(5) })
  })

  test('forgets what was read before the queue was rewound', () => {
    const claim = { rewinds: 8, deliveries: [delivery(300, 100)], isFull: false, now: 1_000 }
    const next = readOn({ ...at(600, uuid(5)), stamp: 200 }, claim)
    expect(next).toEqual({ rewinds: 8, readTo: { at: 200, id: last }, stamp: 200 })
  })
})

test('what is dropped is read again', () => {
  const position = at(600, uuid(5))
  expect(goBackTo(position, [delivery(700), delivery(500, 0, 3), delivery(500, 0, 2)]).readTo).toEqual({
    at: 500,
    id: uuid(2),
  })
  expect(goBackTo(position, [delivery(600, 0, 6)])).toEqual(position)
  expect(goBackTo(unread, [delivery(1)])).toEqual(unread)
})
