import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { createRateLimiter } from '../../src/admission/rate-limit.ts'

const limit = { perSecond: 10, burst: 5 }

describe('the limiter', () => {
  test('lets a burst through, then one for each that comes back', () => {
    const clock = testClock()
    const limiter = createRateLimiter(limit, clock)
    const take = () => limiter.count('a')
    expect([1, 2, 3, 4, 5].map(() => take().remaining)).toEqual([4, 3, 2, 1, 0])
    expect(take()).toMatchObject({ allowed: false, remaining: 0, retryAfter: 100, fullAfter: 500 })
    clock.advance(99)
    expect(take()).toMatchObject({ allowed: false, retryAfter: 1 })
    clock.advance(1)
    expect(take()).toMatchObject({ allowed: true, remaining: 0, fullAfter: 500 })
    clock.advance(500)
    expect(take()).toMatchObject({ allowed: true, remaining: 4, retryAfter: 0, fullAfter: 100 })
  })

  test('counts each caller apart, and looking costs nothing', () => {
    const limiter = createRateLimiter(limit, testClock())
    for (let n = 0; n < 9; n++) limiter.count('a')
    expect(limiter.peek('a').allowed).toBe(false)
    for (let n = 0; n < 9; n++) expect(limiter.peek('b').remaining).toBe(5)
    expect(limiter.count('b').allowed).toBe(true)
  })

  test('over any times of calls: what burst and rate allow, and what is told, to the millisecond', () => {
    fc.assert(
      fc.property(
        fc.record({ perSecond: fc.integer({ min: 1, max: 300 }), burst: fc.integer({ min: 1, max: 50 }) }),
        fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 200 }),
        (any, pauses) => {
          const clock = testClock()
          const limiter = createRateLimiter(any, clock)
          // The other way round: what is held, in fractions that are exact.
          let held = BigInt(any.burst) * 1_000n
          const pass = (milliseconds: number) => {
            clock.advance(milliseconds)
            const more = held + BigInt(milliseconds * any.perSecond)
            held = more > BigInt(any.burst) * 1_000n ? BigInt(any.burst) * 1_000n : more
          }
          for (const pause of pauses) {
            pass(pause)
            const may = held >= 1_000n
            expect(limiter.peek('a').allowed).toBe(may)
            const quota = limiter.count('a')
            expect(quota.allowed).toBe(may)
            if (may) held -= 1_000n
            expect(quota.remaining).toBe(Number(held / 1_000n))
            if (quota.retryAfter === 0) continue
            // Who comes a millisecond early is refused; who waits as told is let in.
            pass(quota.retryAfter - 1)
            expect(limiter.peek('a').allowed).toBe(false)
            pass(1)
            expect(limiter.peek('a').allowed).toBe(true)
          }
        },
      ),
    )
  })

  test('a clock that is set back makes nobody wait longer than from empty', () => {
    const clock = testClock()
    const limiter = createRateLimiter(limit, clock)
    for (let n = 0; n < 5; n++) limiter.count('a')
    clock.advance(-3_600_000)
    expect(limiter.count('a')).toMatchObject({ allowed: false, retryAfter: 100 })
    clock.advance(100)
    expect(limiter.count('a').allowed).toBe(true)
  })

  test('remembers those alone whose bucket is not full', () => {
    const clock = testClock()
    const limiter = createRateLimiter(limit, clock)
    for (let n = 0; n < 10_000; n++) {
      limiter.count(`key ${n}`)
      clock.advance(1)
    }
    // One request comes back in 100 ms.
    expect(limiter.size).toBeLessThanOrEqual(101)
  })

  test('remembers a bounded number even at one moment', () => {
    const limiter = createRateLimiter(limit, testClock())
    for (let n = 0; n < 100_500; n++) limiter.count(`key ${n}`)
    expect(limiter.size).toBe(100_000)
  })
})
