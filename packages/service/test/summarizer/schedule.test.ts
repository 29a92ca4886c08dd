import { expect, test } from 'vitest'
import { day, hour, minute } from '../../../testbed/hooks.ts'
import { parseRetryAfter } from '../../src/summarizer/chat-endpoint.ts'
import { maxAttempts, nextAttempt } from '../../src/summarizer/jobs.ts'

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

test.each([
  [undefined, null],
  ['', null],
  ['-1', null],
  ['1.5', null],
  ['7', 7_000],
  [' 7 ', 7_000],
  [['7', '8'], 7_000],
  ['Sun, 01 Mar 2026 12:00:10 GMT', 10_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
  ['Sun, 01 Mar 2036 12:00:00 GMT', day],
  [`${'9'.repeat(400)}`, day],
])('Retry-After: %s', (value, wait) => {
  expect(parseRetryAfter(value, Date.parse('2026-03-01T12:00:00Z'))).toBe(wait)
})
