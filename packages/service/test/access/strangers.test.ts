/** Requests without a key: how fast an address is answered, who waits, and who is refused. Time is moved by hand. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Strangers, strangerLimits } from '../../src/access/strangers.ts'
import { networkOf } from '../../src/kernel/networks.ts'
import type { RestAfter } from '../../src/kernel/room-for-others.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

/** Whose turn it was, in order, and who was refused. */
function door(limits: Partial<typeof strangerLimits> = {}, restAfter?: RestAfter) {
  const strangers = new Strangers({ ...strangerLimits, ...limits }, restAfter)
  const served: string[] = []
  const refused: string[] = []
  return {
    served,
    refused,
    come: (address: string, times = 1) => {
      for (let n = 0; n < times; n++) {
        if (!strangers.enter(address, () => served.push(address))) refused.push(address)
      }
    },
  }
}

test('after its burst an address is answered at its pace, in its order, and nobody else waits for it', () => {
  const { served, refused, come } = door({ perSecond: 100, burst: 10, waiting: 1_000 })
  come('a', 200)
  expect(served).toHaveLength(10)
  come('b', 10)
  expect(served.filter((address) => address === 'b')).toHaveLength(10)
  vi.advanceTimersByTime(1_000)
  expect(served.filter((address) => address === 'a')).toHaveLength(110)
  vi.advanceTimersByTime(1_000)
  expect(served.filter((address) => address === 'a')).toHaveLength(200)
  expect(refused).toEqual([])
})

test('beyond those that may wait the newest is refused, and after a rest all is as before', () => {
  const { served, refused, come } = door({ perSecond: 100, burst: 10, waiting: 50 })
  come('a', 70)
  expect([served.length, refused.length]).toEqual([10, 10])
  vi.advanceTimersByTime(600)
  expect(served).toHaveLength(60)
  come('a')
  expect(refused).toHaveLength(10)
  vi.advanceTimersByTime(1_000)
  come('a', 10)
  expect(served).toHaveLength(71)
})

test('beside organizations what had to wait comes as far apart as room for others says, and a quiet address is not slower', () => {
  let rest = 190
  const worked: (number | string | null)[] = []
  const { served, come } = door(
    { perSecond: 100, burst: 10, waiting: 1_000 },
    (organization, milliseconds) => {
      worked.push(organization, milliseconds)
      return rest
    },
  )
  come('a', 200)
  vi.advanceTimersByTime(2_000)
  expect(served.length).toBeGreaterThanOrEqual(10 + 10)
  expect(served.length).toBeLessThanOrEqual(10 + 11)
  expect(worked.slice(0, 2)).toEqual([null, 10])
  come('b', 10)
  expect(served.filter((address) => address === 'b')).toHaveLength(10)
  rest = 0
  vi.advanceTimersByTime(2_190)
  expect(served.filter((address) => address === 'a')).toHaveLength(200)
})

test('an address of IPv6 is counted by its network, one of IPv4 by itself', () => {
  expect(networkOf('2001:db8:1:2::5')).toBe(networkOf('2001:db8:1:2:ffff::1'))
  expect(networkOf('2001:db8:1:2::5')).not.toBe(networkOf('2001:db8:1:3::5'))
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('::ffff:192.0.2.1')).not.toBe(networkOf('::ffff:192.0.2.2'))
})
