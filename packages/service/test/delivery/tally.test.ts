/** What a tally counts, and what is made of how long attempts took. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { succeeded } from '../../../testbed/attempt-result.ts'
import { attemptErrorCodes } from '../../src/delivery/endpoint/records.ts'
import type { DeliveryErrorCode } from '../../src/delivery/model.ts'
import { durationBounds, meaningOf, quantile, tallyOf } from '../../src/delivery/queue/tally.ts'

const one = succeeded({ id: 'd' } as Parameters<typeof succeeded>[0], 0)
const after = (durationMs: number) => ({ ...one, durationMs })
const failed = (code: DeliveryErrorCode, attempted: boolean) => ({
  ...one,
  verdict: { ...one.verdict, status: 'failed' as const, error: { code, message: '' }, attempted },
})
const countsOf = (tally: readonly number[]) =>
  tally.flatMap((count, place) => (count === 0 ? [] : [{ ...meaningOf(place), count }]))

test('each outcome has a place of its own, and each attempt one for how long it took', () => {
  const codes = Object.keys(attemptErrorCodes) as DeliveryErrorCode[]
  const meanings = Array.from({ length: tallyOf([]).length }, (_, place) => JSON.stringify(meaningOf(place)))
  expect(new Set(meanings).size).toBe(1 + durationBounds.length + 1 + codes.length)
  expect(meanings).not.toContain('null')
  expect(meaningOf(meanings.length)).toBeNull()
  for (const code of codes)
    expect(countsOf(tallyOf([failed(code, false)]))).toEqual([{ counts: 'failed', code, count: 1 }])
  expect(countsOf(tallyOf([after(0), after(1), after(4), after(3), failed('timeout', true)]))).toEqual([
    { counts: 'succeeded', count: 4 },
    { counts: 'duration', bucket: 0, count: 1 },
    { counts: 'duration', bucket: 1, count: 2 },
    { counts: 'duration', bucket: 3, count: 2 },
    { counts: 'failed', code: 'timeout', count: 1 },
  ])
  // It was under way when its worker died: that took however long it took.
  expect(countsOf(tallyOf([failed('worker_lost', true)]))).toEqual([
    { counts: 'failed', code: 'worker_lost', count: 1 },
  ])
})

test('what is stored keeps its meaning', () => {
  expect([0, 1, 28, 29, 33, 38].map(meaningOf)).toEqual([
    { counts: 'succeeded' },
    { counts: 'duration', bucket: 0 },
    { counts: 'duration', bucket: 27 },
    { counts: 'failed', code: 'timeout' },
    { counts: 'failed', code: 'non_2xx' },
    { counts: 'failed', code: 'worker_lost' },
  ])
})

test.each([10_000, 8_000, 12_000, 300])('no quantile of attempts that end at %i ms is longer', (timeout) => {
  const counts = durationBounds.concat(0).fill(0)
  const slow = tallyOf([after(timeout)]).findLastIndex((count) => count > 0) - 1
  counts[slow] = 40
  counts[3] = 10
  for (const part of [0.5, 0.95, 0.99, 1])
    expect(quantile(counts, part, timeout)).toBeLessThanOrEqual(timeout)
  expect(quantile(counts, 1, timeout)).toBe(timeout)
  // A longer timeout that it had before is not forgotten.
  counts[25] = 1_000
  expect(quantile(counts, 0.95, timeout)).toBe(15_000)
})

test('a quantile lies in the bucket of the true one', () => {
  const bucketOf = (took: number) => tallyOf([after(took)]).findLastIndex((count) => count > 0) - 1
  fc.assert(
    fc.property(
      fc.array(fc.nat(60_000), { minLength: 1, maxLength: 50 }),
      fc.constantFrom(0.5, 0.95),
      (took, part) => {
        const counts = durationBounds.concat(0).map((_, bucket) => {
          return took.filter((each) => bucketOf(each) === bucket).length
        })
        const exact = took.toSorted((a, b) => a - b)[Math.ceil(took.length * part) - 1] ?? 0
        const from = durationBounds[bucketOf(exact) - 1] ?? 0
        const found = quantile(counts, part, 60_000) ?? -1
        expect(found).toBeGreaterThanOrEqual(from)
        expect(found).toBeLessThanOrEqual(durationBounds[bucketOf(exact)] ?? from)
      },
    ),
  )
  expect(quantile([], 0.5, 10_000)).toBeNull()
})
