/** Whether another attempt may begin: what keeps a healthy endpoint from waiting for the others. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ConcurrencyLimiter,
  type EndpointLimiter,
  type EndpointUsage,
  mayStart,
  type RunningAttempt,
  type WorkerUsage,
} from '../../src/delivery/concurrency.ts'
import { type PriorityClass, priorityClasses } from '../../src/delivery/model.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'

const usual = deliveryTuning.concurrency
const tuning = { ...usual, total: 20, heavy: 5, slow: 8, fresh: 2 }

describe('permits', () => {
  test('of the heavy, the slow and the fresh are limited, and leave the rest to the light', () => {
    const limiter = new ConcurrencyLimiter(tuning)
    for (const [priority, most] of [
      ['heavy', 5],
      ['slow', 8],
      ['fresh', 2],
      ['light', 5],
    ] as const) {
      for (let n = 0; n < most; n++) expect(limiter.acquire(priority)).not.toBeNull()
      expect(limiter.acquire(priority)).toBeNull()
    }
    expect(limiter.inUse).toBe(20)
  })

  test('that turn out slow are charged to the slow, who get none until they are below their limit', () => {
    const limiter = new ConcurrencyLimiter(tuning)
    const held = Array.from({ length: 12 }, () => limiter.acquire('light')!)
    for (const permit of held) limiter.charge(permit, 'slow')
    expect(limiter.acquire('slow')).toBeNull()
    expect(limiter.hasRoom('light')).toBe(true)
    for (const permit of held.splice(0, 4)) limiter.release(permit)
    expect(limiter.acquire('slow')).toBeNull()
    limiter.release(held.pop()!)
    expect(limiter.acquire('slow')).not.toBeNull()
  })

  test('are refused to the fresh as long as those that turned out slow are too many', () => {
    const limiter = new ConcurrencyLimiter(tuning)
    for (let n = 0; n < 5; n++) {
      for (let permit = limiter.acquire('fresh'); permit !== null; permit = limiter.acquire('fresh'))
        limiter.charge(permit, 'slow')
    }
    expect(limiter.inUse).toBe(tuning.slow + tuning.fresh)
    expect([limiter.hasRoom('fresh'), limiter.hasRoom('slow'), limiter.hasRoom('light')]).toEqual([
      false,
      false,
      true,
    ])
  })

  test('are never more than there are, and none is lost', () => {
    const step = fc.record({
      act: fc.constantFrom('acquire', 'release', 'charge'),
      priority: fc.constantFrom(...priorityClasses),
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

test('there is plenty while half of a class is free; of the slow, while seven eighths are', () => {
  const limiter = new ConcurrencyLimiter({ ...usual, total: 100, heavy: 16, slow: 32, fresh: 16 })
  const acquire = (priority: 'heavy' | 'slow', count: number) => {
    for (let n = 0; n < count; n++) limiter.acquire(priority)
  }
  acquire('heavy', 7)
  acquire('slow', 3)
  expect([limiter.hasPlenty('heavy'), limiter.hasPlenty('slow')]).toEqual([true, true])
  acquire('heavy', 1)
  acquire('slow', 1)
  expect([limiter.hasPlenty('heavy'), limiter.hasPlenty('slow')]).toEqual([false, false])
  expect([limiter.hasRoom('heavy'), limiter.hasRoom('slow')]).toEqual([true, true])
})

describe('whether another attempt may start', () => {
  const nobody: WorkerUsage = { light: 0, heavy: 0, slow: 0, fresh: 0 }
  const proven: EndpointUsage = {
    priority: 'light',
    underWay: 3,
    overdue: 0,
    window: 16,
    isProven: true,
    isSpent: false,
    hasSparePermit: false,
  }
  const unproven = { ...proven, priority: 'fresh', isProven: false } as const

  test.each<[string, boolean, WorkerUsage, EndpointUsage]>([
    ['to one that answers, while there is room', true, { ...nobody, light: 19 }, proven],
    ['not when there is none', false, { ...nobody, light: 20 }, proven],
    [
      'with its spare permit in any case',
      true,
      { ...nobody, light: 20 },
      { ...proven, hasSparePermit: true },
    ],
    ['not beyond its window', false, nobody, { ...proven, window: 3 }],
    ['beside one that hangs', true, nobody, { ...proven, window: 3, overdue: 1 }],
    ['not beyond sixteen, whatever hangs', false, nobody, { ...proven, underWay: 16, overdue: 16 }],
    ['to one of which nothing is known while there is plenty', true, nobody, unproven],
    ['not when there is room and no plenty', false, { ...nobody, fresh: 1 }, unproven],
    [
      'nor when there is plenty of its own and the slow have taken it',
      false,
      { ...nobody, slow: 10 },
      unproven,
    ],
    ['never to one that is spent', false, nobody, { ...proven, isSpent: true, hasSparePermit: true }],
  ])('%s', (_when, expected, worker, endpoint) => {
    expect(mayStart(worker, endpoint, tuning)).toBe(expected)
  })
})

describe('an endpoint', () => {
  const quick = { attempted: true, answered: true, took: 5, lostHandshake: false }
  const unanswered = { attempted: true, answered: false, took: 5, lostHandshake: false }
  const inVain = { attempted: true, answered: false, took: 5, lostHandshake: true }
  const ticksUntilSlow = usual.slowAfter / usual.tickEvery + 1
  const open = (priority: PriorityClass) => new ConcurrencyLimiter(usual).open(priority) as EndpointLimiter
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
    const limiter = open('light')
    expect(room(limiter)).toBe(4)
    for (let n = 0; n < 30; n++) limiter.end(start(limiter), quick)
    expect(room(limiter)).toBe(16)
  })

  test('that is slow has a single attempt, until it is quick again', () => {
    const limiter = open('slow')
    expect(room(limiter)).toBe(1)
    limiter.end(start(limiter), quick)
    expect(limiter.priority).toBe('light')
    expect(room(limiter)).toBe(2)
  })

  test('that cannot be reached is as good as slow', () => {
    const limiter = open('fresh')
    limiter.end(start(limiter), unanswered)
    expect(limiter.priority).toBe('slow')
    const other = open('fresh')
    other.end(start(other), quick)
    expect(other.priority).toBe('light')
  })

  test('is proven by an answer in time: then it needs room, and no plenty', () => {
    const worker = new ConcurrencyLimiter({ ...usual, total: 40, heavy: 8, slow: 8, fresh: 8 })
    const limiter = worker.open('fresh') as EndpointLimiter
    const first = start(limiter)
    for (let n = 0; n < 3; n++) worker.acquire('fresh')
    expect(limiter.mayStart).toBe(false)
    limiter.end(first, quick)
    for (let n = 0; n < 25; n++) worker.acquire('light')
    start(limiter)
    expect(worker.hasPlenty('light')).toBe(false)
    expect(limiter.mayStart).toBe(true)
  })

  test('has had its turn when a handshake was made in vain, whatever else would have room', () => {
    const limiter = open('light')
    for (let n = 0; n < 30; n++) limiter.end(start(limiter), quick)
    const attempts = [start(limiter), start(limiter)]
    limiter.end(attempts[0]!, inVain)
    limiter.end(attempts[1]!, quick)
    expect([limiter.isSpent, room(limiter)]).toEqual([true, 0])
  })

  test('goes on when what was lost had taken its time: a hang holds up nothing else of its endpoint', () => {
    const limiter = open('light')
    const attempts = [start(limiter), start(limiter)]
    tick(limiter, ticksUntilSlow)
    limiter.end(attempts[0]!, inVain)
    expect([limiter.isSpent, limiter.mayStart]).toEqual([false, true])
  })

  test('falls when an attempt takes too long; while it is overdue it holds up no other', () => {
    const limiter = open('light')
    const hanging = start(limiter)
    tick(limiter, ticksUntilSlow - 1)
    expect(limiter.priority).toBe('light')
    tick(limiter, 1)
    expect([limiter.priority, hanging.permit.priority]).toEqual(['slow', 'slow'])
    expect(room(limiter)).toBe(5)
    limiter.end(hanging, unanswered)
    expect(limiter.priority).toBe('slow')
    expect(room(limiter)).toBe(1)
  })

  test('that answers late gets more too, but has to prove itself anew', () => {
    const limiter = open('slow')
    for (let n = 0; n < 5; n++) {
      const attempt = start(limiter)
      tick(limiter, ticksUntilSlow)
      limiter.end(attempt, quick)
    }
    expect(limiter.priority).toBe('fresh')
    expect(room(limiter)).toBe(6)
  })

  test('with a backlog waits among the heavy, but a slow one among the slow', () => {
    for (const [priority, then] of [
      ['light', 'heavy'],
      ['slow', 'slow'],
    ] as const) {
      const limiter = open(priority)
      limiter.hasBacklog()
      expect(limiter.priority).toBe(then)
    }
  })

  describe('where others keep the worker busy', () => {
    const slowly = { ...quick, took: 200 }
    /** A worker that has enough to do beside the endpoint, whose timers come so late. */
    const busy = (lateness: number, others: PriorityClass = 'light') => {
      const worker = new ConcurrencyLimiter(usual)
      const limiter = worker.open('light') as EndpointLimiter
      for (let n = 0; n < usual.enough; n++) worker.acquire(others)
      for (let n = 0; n < 100; n++) worker.noteLateness(lateness)
      return { worker, limiter }
    }
    const answer = (limiter: EndpointLimiter, times: number, how: typeof quick) => {
      for (let n = 0; n < times; n++) limiter.end(start(limiter), how)
    }

    test('has fewer at once with each answer that comes at once, and one at least', () => {
      const { limiter } = busy(0)
      answer(limiter, 2, quick)
      expect(room(limiter)).toBe(2)
      answer(limiter, 9, quick)
      expect(room(limiter)).toBe(1)
    })

    test('gets more all the same where it takes its time, and not where the worker itself took it', () => {
      const prompt = busy(0)
      answer(prompt.limiter, 20, slowly)
      expect(room(prompt.limiter)).toBe(16)
      const late = busy(20)
      answer(late.limiter, 20, slowly)
      expect(room(late.limiter)).toBe(1)
    })

    test('begins with one, and gets another for each tick that it certainly takes, if the worker is prompt', () => {
      for (const [lateness, then] of [
        [0, 3],
        [20, 1],
      ] as const) {
        const { worker } = busy(lateness)
        const limiter = worker.open('light') as EndpointLimiter
        expect(room(limiter)).toBe(1)
        const waiting = start(limiter)
        for (let n = 0; n < 3; n++) limiter.tick(true)
        expect(limiter.underWay + room(limiter) - 1).toBe(then)
        limiter.end(waiting, slowly)
      }
    })

    test('is not held back by what hangs', () => {
      const { limiter } = busy(0, 'slow')
      answer(limiter, 20, quick)
      expect(room(limiter)).toBe(16)
    })

    test('gets as many as ever when the others are done', () => {
      const worker = new ConcurrencyLimiter(usual)
      const limiter = worker.open('light') as EndpointLimiter
      const others = Array.from({ length: usual.enough }, () => worker.acquire('light')!)
      answer(limiter, 9, quick)
      for (const permit of others) worker.release(permit)
      answer(limiter, 20, quick)
      expect(room(limiter)).toBe(16)
    })
  })

  test('loses and keeps no permit, whatever happens to its attempts', () => {
    const step = fc.record({
      act: fc.constantFrom('start', 'end', 'tick', 'backlog'),
      answered: fc.boolean(),
      attempted: fc.boolean(),
      took: fc.nat(2_000),
      lostHandshake: fc.boolean(),
    })
    fc.assert(
      fc.property(
        fc.constantFrom(...priorityClasses),
        fc.array(step, { maxLength: 200 }),
        (priority, steps) => {
          const worker = new ConcurrencyLimiter({ ...usual, enough: 3, slowAfter: 50 })
          const limiter = worker.open(priority) as EndpointLimiter
          const running: RunningAttempt[] = []
          for (const { act, ...ended } of steps) {
            if (act === 'tick') limiter.tick(ended.answered)
            if (act === 'backlog') limiter.hasBacklog()
            if (act === 'end' && running.length > 0) limiter.end(running.shift()!, ended)
            if (act === 'start') {
              const attempt = limiter.start()
              if (attempt !== null) running.push(attempt)
              // The only one is never refused, but to who is spent.
              else expect(running.length > 0 || limiter.isSpent).toBe(true)
            }
            expect(limiter.underWay).toBe(running.length)
            expect(worker.inUse).toBe(Math.max(1, running.length))
            expect(running.length).toBeLessThanOrEqual(usual.perEndpoint)
          }
          for (const attempt of running) limiter.end(attempt, quick)
          limiter.close()
          expect(worker.inUse).toBe(0)
        },
      ),
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
