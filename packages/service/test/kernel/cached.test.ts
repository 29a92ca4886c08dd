/** What is found out once for all who ask, and kept for a while. Time is moved by hand. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { cached } from '../../src/kernel/shared-work.ts'

function asked(options: { readonly goodFor: number; readonly failureGoodFor?: number }) {
  const clock = testClock()
  const reads: PromiseWithResolvers<number>[] = []
  const ask = cached(
    () => {
      const read = Promise.withResolvers<number>()
      reads.push(read)
      return read.promise
    },
    { clock, ...options },
  )
  return { clock, reads, ask }
}

test('all who ask while it is found out, and for a while after it was asked for, are told the same', async () => {
  const { clock, reads, ask } = asked({ goodFor: 1_000 })
  const first = [ask(), ask()]
  clock.advance(400)
  reads[0]?.resolve(1)
  expect(await Promise.all(first)).toEqual([1, 1])
  clock.advance(599)
  expect(await ask()).toBe(1)
  clock.advance(1)
  const second = ask()
  reads[1]?.resolve(2)
  expect(await second).toBe(2)
  expect(reads).toHaveLength(2)
})

test('one is under way at a time, however long it takes and wherever the clock goes', async () => {
  const { clock, reads, ask } = asked({ goodFor: 1_000 })
  const waiting = [ask()]
  for (const step of [5_000, 60_000, -3_600_000]) {
    clock.advance(step)
    waiting.push(ask())
  }
  expect(reads).toHaveLength(1)
  reads[0]?.resolve(7)
  expect(await Promise.all(waiting)).toEqual([7, 7, 7, 7])
})

test('a failure is told to all, and kept as long as it is told to be', async () => {
  const { clock, reads, ask } = asked({ goodFor: 15_000, failureGoodFor: 1_000 })
  const both = Promise.allSettled([ask(), ask()])
  reads[0]?.reject(new Error('gone'))
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  clock.advance(999)
  await expect(ask()).rejects.toThrow('gone')
  clock.advance(1)
  const next = ask()
  reads[1]?.resolve(3)
  expect(await next).toBe(3)
  clock.advance(14_000)
  expect(await ask()).toBe(3)
  expect(reads).toHaveLength(2)
})

test('a clock that is set back makes no answer good for ever', async () => {
  const { clock, reads, ask } = asked({ goodFor: 1_000 })
  const first = ask()
  reads[0]?.resolve(1)
  await first
  clock.advance(-1)
  void ask()
  expect(reads).toHaveLength(2)
})
