/** Who is next: bounded, work-conserving, fair by time, and nobody starves. */
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import {
  type CapacityPermit,
  FairQueue,
  type FairQueueLimits,
  LimitExceeded,
} from '../../src/admission/fair-queue.ts'

const limits: FairQueueLimits = {
  capacity: 10,
  share: 2,
  long: 4,
  shared: 6,
  waiting: 1_000,
  waitingOfOne: 500,
  waitAtMost: 3_600_000,
}

function queueOf(changed: Partial<FairQueueLimits> = {}, elapsed = () => 0): FairQueue {
  return new FairQueue('statements', { ...limits, ...changed }, elapsed)
}

/** As many permits as there are at once. */
function takeAll(queue: FairQueue, who: string): CapacityPermit[] {
  const taken: CapacityPermit[] = []
  for (;;) {
    const permit = queue.tryAcquire(who)
    if (permit instanceof LimitExceeded) return taken
    taken.push(permit)
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('fairness', () => {
  /** Organizations that always have work, each piece as long as `costs` says, until one had `until`. */
  async function alwaysBusy(capacity: number, costs: Readonly<Record<string, number>>, until: number) {
    let now = 0
    const queue = queueOf({ capacity, long: capacity, shared: capacity }, () => now)
    const had = new Map(Object.keys(costs).map((name) => [name, 0]))
    const running: { readonly name: string; readonly permit: CapacityPermit; readonly ends: number }[] = []
    let furthestApart = 0
    const ask = (name: string) => {
      const start = (permit: CapacityPermit) =>
        running.push({ name, permit, ends: now + (costs[name] as number) })
      const permit = queue.acquire(name)
      if (permit instanceof Promise) void permit.then(start)
      else start(permit)
    }
    for (const name of had.keys()) for (let n = 0; n < 2 * capacity; n++) ask(name)
    while (Math.max(...had.values()) < until) {
      running.sort((a, b) => a.ends - b.ends)
      const { name, permit, ends } = running.shift() as (typeof running)[number]
      now = ends
      had.set(name, (had.get(name) ?? 0) + (costs[name] as number))
      permit.release()
      await Promise.resolve()
      ask(name)
      await Promise.resolve()
      await Promise.resolve()
      furthestApart = Math.max(furthestApart, Math.max(...had.values()) - Math.min(...had.values()))
    }
    return { had, furthestApart }
  }

  test('with one slot, busy organizations get the same time but for one piece of work, however long theirs are', async () => {
    const costs = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 50 }), {
      minKeys: 2,
    })
    await fc.assert(
      fc.asyncProperty(costs, async (costs) => {
        const { furthestApart } = await alwaysBusy(1, costs, 500)
        expect(furthestApart).toBeLessThanOrEqual(2 * Math.max(...Object.values(costs)))
      }),
      { numRuns: 30 },
    )
  })

  test('with ten, one with long work and one with short work get the same time, but for what is running', async () => {
    const { had } = await alwaysBusy(10, { short: 1, long: 100 }, 5_000)
    expect(Math.abs((had.get('short') ?? 0) - (had.get('long') ?? 0))).toBeLessThanOrEqual(1_000)
  })

  test('time in which an organization asked for nothing is not owed to it', async () => {
    let now = 0
    const queue = queueOf({ capacity: 1 }, () => now)
    const order: string[] = []
    let current = queue.acquire('a') as CapacityPermit
    const ask = (name: string) =>
      void (queue.acquire(name) as Promise<CapacityPermit>).then((permit) => {
        order.push(name)
        current = permit
      })
    const end = async (took: number) => {
      now += took
      current.release()
      await settled()
    }
    for (let n = 0; n < 4; n++) ask('a')
    await end(1_000)
    for (let n = 0; n < 4; n++) ask('b')
    for (let n = 0; n < 7; n++) await end(10)
    // It comes late, and does not go first until it has had a thousand too.
    expect(order.slice(0, 4)).toEqual(expect.arrayContaining(['a', 'b']))
  })
})

test('nothing is ever held beyond the capacity, and nothing that fits is left waiting', async () => {
  const steps = fc.array(
    fc.record({
      who: fc.constantFrom('a', 'b', 'c'),
      cost: fc.integer({ min: 1, max: 6 }),
      gives: fc.boolean(),
    }),
    { maxLength: 100 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const queue = queueOf({ share: 1 })
      const held: CapacityPermit[] = []
      for (const { who, cost, gives } of steps) {
        if (gives) held.shift()?.release()
        else {
          const permit = queue.acquire(who, { cost })
          if (permit instanceof Promise) void permit.then((later) => held.push(later))
          else held.push(permit)
        }
        await Promise.resolve()
        expect(queue.held).toBeLessThanOrEqual(10)
        // Whoever waits waits for somebody.
        if (queue.waiting > 0) expect(queue.held).toBeGreaterThan(0)
      }
      for (let n = 0; n < 500 && queue.held > 0; n++) {
        held.shift()?.release()
        await Promise.resolve()
        await Promise.resolve()
      }
      expect([queue.held, queue.waiting]).toEqual([0, 0])
    }),
  )
})

test('the only active organization gets two thirds; another finds capacity at once, and work for several goes first', async () => {
  const queue = queueOf()
  const [first] = takeAll(queue, 'a')
  expect(queue.held).toBe(6)
  for (const who of ['b', 'c', 'd']) expect(takeAll(queue, who).length).toBeGreaterThan(0)
  expect(queue.held).toBe(10)
  const order: string[] = []
  const wait = (who: string, kind: 'short' | 'shared') =>
    void (queue.acquire(who, { kind }) as Promise<CapacityPermit>).then(() => order.push(who))
  wait('e', 'short')
  wait('several', 'shared')
  first?.release()
  await settled()
  expect(order).toEqual(['several'])
})

test('long work has a part of the capacity, and short work passes what waits for it', async () => {
  const queue = queueOf({ long: 2 })
  const begun = ['a', 'b'].map((who) => queue.acquire(who, { kind: 'long' }) as CapacityPermit)
  let started = 0
  void (queue.acquire('a', { kind: 'long' }) as Promise<CapacityPermit>).then(() => started++)
  expect(queue.acquire('a')).not.toBeInstanceOf(Promise)
  expect(queue.acquire('c')).not.toBeInstanceOf(Promise)
  await settled()
  expect(started).toBe(0)
  begun[1]?.release()
  await settled()
  expect(started).toBe(1)
})

test('a large demand is not passed for ever by small ones of others', async () => {
  const queue = queueOf({ share: 1 })
  const held = [queue.acquire('a', { cost: 4 }), queue.acquire('b', { cost: 3 })] as CapacityPermit[]
  let large = false
  void (queue.acquire('c', { cost: 5 }) as Promise<CapacityPermit>).then(() => {
    large = true
  })
  const small = queue.acquire('d', { cost: 1 })
  expect(small).toBeInstanceOf(Promise)
  held[0]?.release()
  await settled()
  expect(large).toBe(true)
  await small
})

test('what is aborted leaves the queue at once, with the reason, and never starts', async () => {
  const queue = queueOf({ capacity: 1 })
  const held = queue.acquire('a') as CapacityPermit
  const gone = new AbortController()
  const reason = new Error('disconnected')
  const waiting = queue.acquire('b', { signal: gone.signal }) as Promise<CapacityPermit>
  const refused = expect(waiting).rejects.toBe(reason)
  expect(queue.waiting).toBe(1)
  gone.abort(reason)
  await refused
  expect(queue.waiting).toBe(0)
  await expect(queue.acquire('c', { signal: gone.signal })).rejects.toBe(reason)
  held.release()
  expect(queue.held).toBe(0)
  // Nor where it would not have to wait.
  await expect(queue.acquire('c', { signal: gone.signal })).rejects.toBe(reason)
  expect(queue.held).toBe(0)
})

test('queues are bounded: beyond its own an organization is refused for its share, beyond all for want of capacity', async () => {
  const queue = queueOf({ capacity: 1, waitingOfOne: 2, waiting: 3 })
  queue.acquire('a')
  const wait = (who: string) => queue.acquire(who) as Promise<CapacityPermit>
  for (const who of ['a', 'a', 'b']) void wait(who)
  await expect(wait('a')).rejects.toEqual(new LimitExceeded('own_share', 'statements'))
  await expect(wait('c')).rejects.toEqual(new LimitExceeded('all_taken', 'statements'))
})

test('what has waited for too long is refused, for whose sake it had to wait', async () => {
  vi.useFakeTimers()
  try {
    const queue = queueOf({ capacity: 4, share: 1, waitAtMost: 1_000 })
    for (const who of ['a', 'a', 'b']) queue.acquire(who)
    const own = expect(queue.acquire('a')).rejects.toEqual(new LimitExceeded('own_share', 'statements'))
    queue.acquire('c')
    const all = expect(queue.acquire('d')).rejects.toEqual(new LimitExceeded('all_taken', 'statements'))
    await vi.advanceTimersByTimeAsync(1_000)
    await Promise.all([own, all])
    expect(queue.waiting).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('a permit that is resized makes room, or is refused more than its share', async () => {
  const queue = queueOf({ share: 1 })
  const permit = queue.acquire('a', { cost: 4 }) as CapacityPermit
  const other = queue.acquire('b', { cost: 5 }) as CapacityPermit
  expect(permit.resize(6)).toBeInstanceOf(LimitExceeded)
  expect(queue.held).toBe(9)
  other.release()
  const waiting = queue.acquire('a', { cost: 3 })
  expect(permit.resize(1)).toBeNull()
  await waiting
  expect(queue.held).toBe(4)
  permit.release()
  permit.release()
  expect(queue.held).toBe(3)
})
