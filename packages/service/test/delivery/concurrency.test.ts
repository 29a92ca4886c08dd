/** Whether another attempt may begin: what keeps a healthy endpoint from waiting for the others. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Priority, priorities } from '../../src/delivery/model.ts'
import {
  ConcurrencyLimiter,
  type EndpointLimiter,
  type EndpointUsage,
  mayStart,
  type RunningAttempt,
  type WorkerUsage,
} from '../../src/delivery/queue/concurrency.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'

const usual = deliveryTuning.concurrency
const tuning = { ...usual, total: 20, unproven: 2, unresponsive: 8 }

describe('permits', () => {
  test('of the unproven and the failing are limited, and leave the rest to the healthy', () => {
    const limiter = new ConcurrencyLimiter(tuning)
    for (const [priority, most] of [
      ['unresponsive', 8],
      ['unproven', 2],
      ['responsive', 10],
    ] as const) {
      for (let n = 0; n < most; n++) expect(limiter.acquire(priority)).not.toBeNull()
      expect(limiter.acquire(priority)).toBeNull()
    }
    expect(limiter.inUse).toBe(20)
  })

  test('of attempts that take too long are charged to the failing, who get none until they are below their limit', () => {
    const limiter = new ConcurrencyLimiter(tuning)
    const held = Array.from({ length: 12 }, () => limiter.acquire('responsive')!)
    for (const permit of held) limiter.charge(permit, 'unresponsive')
    expect(limiter.acquire('unresponsive')).toBeNull()
    expect(limiter.hasFreePermit('responsive')).toBe(true)
    for (const permit of held.splice(0, 4)) limiter.release(permit)
    expect(limiter.acquire('unresponsive')).toBeNull()
    limiter.release(held.pop()!)
    expect(limiter.acquire('unresponsive')).not.toBeNull()
  })

  test('are refused to the unproven as long as those that turned out to hang are too many', () => {
    const limiter = new ConcurrencyLimiter(tuning)
    for (let n = 0; n < 5; n++) {
      for (let permit = limiter.acquire('unproven'); permit !== null; permit = limiter.acquire('unproven'))
        limiter.charge(permit, 'unresponsive')
    }
    expect(limiter.inUse).toBe(tuning.unresponsive + tuning.unproven)
    expect(priorities.map((priority) => limiter.hasFreePermit(priority))).toEqual([true, false, false])
  })

  test('are never more than there are, and none is lost', () => {
    const step = fc.record({
      act: fc.constantFrom('acquire', 'release', 'charge'),
      priority: fc.constantFrom(...priorities),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const limiter = new ConcurrencyLimiter(tuning)
        const held = []
        for (const { act, priority } of steps) {
          if (act === 'acquire') {
            const permit = limiter.acquire(priority)
            if (permit !== null) held.push(permit)
          } else if (act === 'release' && held.length > 0) limiter.release(held.shift()!)
          else if (held.length > 0) limiter.charge(held[0]!, priority)
          expect(limiter.inUse).toBe(held.length)
          expect(limiter.inUse).toBeLessThanOrEqual(tuning.total)
        }
      }),
    )
  })
})

test('there is plenty while half of all and of a class is free; of the failing, seven eighths', () => {
  const limiter = new ConcurrencyLimiter({ ...usual, total: 100, unproven: 16, unresponsive: 32 })
  const acquire = (priority: Priority, count: number) => {
    for (let n = 0; n < count; n++) limiter.acquire(priority)
  }
  const plenty = () => priorities.map((priority) => limiter.hasPlenty(priority))
  acquire('unproven', 7)
  acquire('unresponsive', 3)
  expect(plenty()).toEqual([true, true, true])
  acquire('unproven', 1)
  acquire('unresponsive', 1)
  expect(plenty()).toEqual([true, false, false])
  acquire('responsive', 38)
  expect(plenty()).toEqual([false, false, false])
  expect(limiter.hasFreePermit('responsive')).toBe(true)
})

describe('whether another attempt may start', () => {
  const nobody: WorkerUsage = { responsive: 0, unproven: 0, unresponsive: 0 }
  const healthy: EndpointUsage = {
    priority: 'responsive',
    underWay: 3,
    overdue: 0,
    window: 16,
    handshakeFailed: false,
    hasSparePermit: false,
    most: 16,
    toHost: 3,
  }
  const unproven = { ...healthy, priority: 'unproven' } as const

  test.each<[string, boolean, WorkerUsage, EndpointUsage]>([
    ['to one that answers, while there is plenty', true, { ...nobody, responsive: 9 }, healthy],
    ['not when there is none', false, { ...nobody, responsive: 10 }, healthy],
    [
      'with its spare permit in any case',
      true,
      { ...nobody, responsive: 20 },
      { ...healthy, hasSparePermit: true },
    ],
    ['not beyond its window', false, nobody, { ...healthy, window: 3 }],
    ['beside one that hangs', true, nobody, { ...healthy, window: 3, overdue: 1 }],
    ['not beyond sixteen, whatever hangs', false, nobody, { ...healthy, underWay: 16, overdue: 16 }],
    ['to one of which nothing is known while there is plenty', true, nobody, unproven],
    ['not when there is room and no plenty', false, { ...nobody, unproven: 1 }, unproven],
    [
      'never to one that is spent',
      false,
      nobody,
      { ...healthy, handshakeFailed: true, hasSparePermit: true },
    ],
  ])('%s', (_when, expected, worker, endpoint) => {
    expect(mayStart(worker, endpoint, tuning)).toBe(expected)
  })
})

describe('an endpoint', () => {
  const quick = { attempted: true, answered: true, lostHandshake: false }
  const unanswered = { attempted: true, answered: false, lostHandshake: false }
  const inVain = { attempted: true, answered: false, lostHandshake: true }
  const ticksUntilSlow = usual.slowAfter / usual.tickEvery + 1
  const open = (priority: Priority) => new ConcurrencyLimiter(usual).open(priority) as EndpointLimiter
  const start = (limiter: EndpointLimiter) => limiter.start() as RunningAttempt
  const tick = (limiter: EndpointLimiter, ticks: number) => {
    for (let n = 0; n < ticks; n++) limiter.tick(false)
  }
  /** How many it may have under way, found by starting them. */
  const room = (limiter: EndpointLimiter) => {
    const started: RunningAttempt[] = []
    for (let next = limiter.start(); next !== null; next = limiter.start()) started.push(next)
    const most = limiter.underWay
    for (const attempt of started) limiter.end(attempt, { ...quick, attempted: false })
    return most
  }

  test('begins with a few attempts, and one more for each that is answered, up to sixteen', () => {
    const limiter = open('responsive')
    expect(room(limiter)).toBe(4)
    for (let n = 0; n < 30; n++) limiter.end(start(limiter), quick)
    expect(room(limiter)).toBe(16)
  })

  test('that is failing has a single attempt, until it is quick again', () => {
    const limiter = open('unresponsive')
    expect(room(limiter)).toBe(1)
    limiter.end(start(limiter), quick)
    expect(limiter.priority).toBe('responsive')
    expect(room(limiter)).toBe(2)
  })

  test('that cannot be reached is failing', () => {
    for (const priority of ['responsive', 'unproven'] as const) {
      const limiter = open(priority)
      limiter.end(start(limiter), unanswered)
      expect(limiter.priority).toBe('unresponsive')
      expect(room(limiter)).toBe(1)
    }
  })

  test('has had its turn when a handshake was made in vain, whatever else would have room', () => {
    const limiter = open('responsive')
    for (let n = 0; n < 30; n++) limiter.end(start(limiter), quick)
    const attempts = [start(limiter), start(limiter)]
    limiter.end(attempts[0]!, inVain)
    limiter.end(attempts[1]!, quick)
    expect([limiter.handshakeFailed, room(limiter)]).toEqual([true, 0])
  })

  test('goes on when what was lost had taken its time: a hang holds up nothing else of its endpoint', () => {
    const limiter = open('responsive')
    const attempts = [start(limiter), start(limiter)]
    tick(limiter, ticksUntilSlow)
    limiter.end(attempts[0]!, inVain)
    expect([limiter.handshakeFailed, limiter.mayStart]).toEqual([false, true])
  })

  test('falls when an attempt takes too long; while it is overdue it holds up no other', () => {
    const limiter = open('responsive')
    const hanging = start(limiter)
    tick(limiter, ticksUntilSlow - 1)
    expect(limiter.priority).toBe('responsive')
    tick(limiter, 1)
    expect([limiter.priority, hanging.permit.priority]).toEqual(['unresponsive', 'unresponsive'])
    expect(room(limiter)).toBe(5)
    limiter.end(hanging, unanswered)
    expect(limiter.priority).toBe('unresponsive')
    expect(room(limiter)).toBe(1)
  })

  test('that answers late gets more too, but has to prove itself anew', () => {
    const limiter = open('unresponsive')
    for (let n = 0; n < 5; n++) {
      const attempt = start(limiter)
      tick(limiter, ticksUntilSlow)
      limiter.end(attempt, quick)
    }
    expect(limiter.priority).toBe('unproven')
    expect(room(limiter)).toBe(6)
  })

  test('loses and keeps no permit, whatever happens to its attempts', () => {
    const step = fc.record({
      act: fc.constantFrom('start', 'end', 'tick'),
      answered: fc.boolean(),
      attempted: fc.boolean(),
      lostHandshake: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.constantFrom(...priorities), fc.array(step, { maxLength: 200 }), (priority, steps) => {
        const worker = new ConcurrencyLimiter({ ...usual, slowAfter: 50 })
        const limiter = worker.open(priority) as EndpointLimiter
        const running: RunningAttempt[] = []
        for (const { act, ...ended } of steps) {
          if (act === 'tick') limiter.tick(ended.answered)
          if (act === 'end' && running.length > 0) limiter.end(running.shift()!, ended)
          if (act === 'start') {
            const attempt = limiter.start()
            if (attempt !== null) running.push(attempt)
            // The only one is never refused, but to who is spent.
            else expect(running.length > 0 || limiter.handshakeFailed).toBe(true)
          }
          expect(limiter.underWay).toBe(running.length)
          expect(worker.inUse).toBe(Math.max(1, running.length))
          expect(running.length).toBeLessThanOrEqual(usual.perEndpoint)
        }
        for (const attempt of running) limiter.end(attempt, quick)
        limiter.close()
        expect(worker.inUse).toBe(0)
      }),
    )
  })
})

test('payloads fill their memory until they are sent or left', () => {
  const limiter = new ConcurrencyLimiter(usual)
  limiter.holdPayload(usual.payloadsInMemory)
  expect(limiter.isFullOfPayloads).toBe(false)
  limiter.holdPayload(1)
  expect(limiter.isFullOfPayloads).toBe(true)
  limiter.holdPayload(-1)
  expect(limiter.isFullOfPayloads).toBe(false)
})
