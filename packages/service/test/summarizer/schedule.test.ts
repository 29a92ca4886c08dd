import { expect, test } from 'vitest'
import { day, hour, minute } from '../../../testbed/hooks.ts'
import { maxAttempts, nextAttempt } from '../../src/summarizer/summarizer.ts'

test('attempts come further and further apart, and end after about a day', () => {
  const delays: number[] = []
  for (let made = 1; ; made++) {
    const delay = nextAttempt(made, null)
    if (delay === null) break
    delays.push(delay / minute)
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 240, 240, 240, 240, 240])
  expect(delays).toHaveLength(maxAttempts - 1)
  const all = delays.reduce((sum, delay) => sum + delay, 0) * minute
  expect(Math.abs(all - day)).toBeLessThan(hour)
})

test('the endpoint may ask for more, not for less, and not for more attempts', () => {
  expect(nextAttempt(1, 5 * minute)).toBe(5 * minute)
  expect(nextAttempt(4, 5 * minute)).toBe(8 * minute)
  expect(nextAttempt(maxAttempts, 0)).toBe(null)
  expect(nextAttempt(maxAttempts + 1, minute)).toBe(null)
})
