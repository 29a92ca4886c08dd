/** Who is woken by what, and who is left to sleep. No database; timers are moved, not waited for. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LimitExceeded } from '../../src/admission/fair-queue.ts'
import { decodeNotification } from '../../src/journal/notifier.ts'
import { createWaitingReaders } from '../../src/journal/waiting-readers.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const minute = 60_000
const none = async () => new Map<string, number>()
const interest = (organizationId: string, ...topics: string[]) => ({
  organizationId,
  topics: new Set(topics),
})

/** What a promise has come to by now. */
async function state<T>(promise: Promise<T>): Promise<T | 'waiting'> {
  await vi.advanceTimersByTimeAsync(0)
  return Promise.race([promise, Promise.resolve('waiting' as const)])
}

test('news of its kinds wakes a reader, other news does not', async () => {
  const readers = createWaitingReaders(none)
  using watch = readers.watch(interest('a', 'ticket'), minute)
  const next = watch.next()
  readers.notify(decodeNotification('a:customer+booking,b:ticket'))
  expect(await state(next)).toBe('waiting')
  readers.notify(decodeNotification('a:customer+ticket'))
  expect(await state(next)).toBe(true)
})

test('news that came before the reader began to wait is not lost, and is told once', async () => {
  const readers = createWaitingReaders(none)
  using watch = readers.watch(interest('a', 'ticket'), minute)
  readers.notify(decodeNotification('a:ticket'))
  expect(await state(watch.next())).toBe(true)
  expect(await state(watch.next())).toBe('waiting')
})

test('news that names nothing is news for all', async () => {
  const readers = createWaitingReaders(none)
  using one = readers.watch(interest('a', 'ticket'), minute)
  using other = readers.watch(interest('b', 'customer'), minute)
  const both = Promise.all([one.next(), other.next()])
  readers.notify(decodeNotification(''))
  expect(await state(both)).toEqual([true, true])
})

test('a reader that ended twice ends no other of its organization', async () => {
  const readers = createWaitingReaders(none)
  const gone = readers.watch(interest('a', 'ticket'), minute)
  gone[Symbol.dispose]()
  using watch = readers.watch(interest('a', 'ticket'), minute)
  gone[Symbol.dispose]()
  const next = watch.next()
  readers.notify(decodeNotification('a:ticket'))
  expect(await state(next)).toBe(true)
})

test('a reader whose client leaves, or has left before, waits for nothing and holds nothing', async () => {
  const readers = createWaitingReaders(none, { all: 2 })
  const client = new AbortController()
  using watch = readers.watch(interest('a', 'ticket'), minute, client.signal)
  const next = watch.next()
  client.abort()
  expect(await state(next)).toBe(false)
  using late = readers.watch(interest('a', 'ticket'), minute, client.signal)
  expect(await state(late.next())).toBe(false)
  using one = readers.watch(interest('a', 'ticket'), minute)
  using other = readers.watch(interest('b', 'ticket'), minute)
  expect(await state(Promise.all([one.next(), other.next()]))).toBe('waiting')
})

test('time that is up, a reader that leaves and an end for all are no news', async () => {
  const readers = createWaitingReaders(none)
  const late = readers.watch(interest('a', 'ticket'), minute)
  const lateNext = late.next()
  const gone = readers.watch(interest('a', 'ticket'), 10 * minute)
  const goneNext = gone.next()
  const ended = readers.watch(interest('a', 'ticket'), 10 * minute)
  const endedNext = ended.next()
  expect(readers.waiting).toBe(3)
  await vi.advanceTimersByTimeAsync(minute - 1)
  expect(await state(lateNext)).toBe('waiting')
  await vi.advanceTimersByTimeAsync(1)
  expect(await state(lateNext)).toBe(false)
  gone[Symbol.dispose]()
  expect(await state(goneNext)).toBe(false)
  expect(await state(endedNext)).toBe('waiting')
  readers.end()
  expect(await state(endedNext)).toBe(false)
  expect(readers.waiting).toBe(0)
  const after = readers.watch(interest('a', 'ticket'), minute)
  expect(await state(after.next())).toBe(false)
  for (const watch of [late, gone, ended, after]) watch[Symbol.dispose]()
  expect(vi.getTimerCount()).toBe(0)
})

test('the poll asks once for everybody, and wakes those whose clock has moved', async () => {
  const asked: string[][] = []
  const clocks = new Map([
    ['a', 5],
    ['b', 9],
  ])
  const readers = createWaitingReaders(async (organizations) => {
    asked.push([...organizations])
    return clocks
  })
  await readers.poll()
  expect(asked).toEqual([])
  using one = readers.watch(interest('a', 'ticket'), minute)
  using two = readers.watch(interest('a', 'ticket'), minute)
  using three = readers.watch(interest('b', 'ticket'), minute)
  for (const [watch, clock] of [
    [one, 5],
    [two, 4],
    [three, 8],
  ] as const) {
    watch.seen(clock)
  }
  const nexts = [one.next(), two.next(), three.next()]
  await readers.poll()
  expect(asked).toEqual([['a', 'b']])
  expect(await Promise.all(nexts.map(state))).toEqual(['waiting', true, true])
})

test('a crowd is woken within some milliseconds, not at once', async () => {
  const readers = createWaitingReaders(none)
  const watches = Array.from({ length: 1_000 }, () => readers.watch(interest('a', 'ticket'), minute))
  let woken = 0
  const all = Promise.all(watches.map((watch) => watch.next().then(() => woken++)))
  await vi.advanceTimersByTimeAsync(0)
  readers.notify(decodeNotification('a:ticket'))
  await vi.advanceTimersByTimeAsync(1)
  expect(woken).toBeLessThan(400)
  await vi.advanceTimersByTimeAsync(25)
  await all
  expect(woken).toBe(1_000)
  for (const watch of watches) watch[Symbol.dispose]()
  expect(vi.getTimerCount()).toBe(0)
})

test('an organization has its share of those who wait, and others find room', () => {
  const readers = createWaitingReaders(none, { all: 8 })
  const watch = (organizationId: string) => readers.watch(interest(organizationId, 'ticket'), minute)
  const watches = Array.from({ length: 4 }, () => watch('a'))
  expect(() => watch('a')).toThrow(new LimitExceeded('own_share', 'waiting_readers'))
  watches.push(watch('b'), watch('b'))
  watches.push(watch('c'), watch('d'))
  expect(() => watch('e')).toThrow(new LimitExceeded('all_taken', 'waiting_readers'))
  watches.shift()?.[Symbol.dispose]()
  watches.push(watch('e'))
  for (const each of watches) each[Symbol.dispose]()
})
