/** The order in which a misbehaving receiver answers: told, or drawn so that it can be had again. */
import { expect, test } from 'vitest'
import { drawnSchedule, nameOf, readSchedule, type Schedule } from '../../src/chaos/schedule.ts'
import { UsageError } from '../../src/usage-error.ts'

const first = (schedule: Schedule, n: number) => Array.from({ length: n }, (_, at) => nameOf(schedule(at)))

test('a schedule is repeated', () => {
  expect(first(readSchedule('ok*2,503,reset'), 6)).toEqual(['ok', 'ok', '503', 'reset', 'ok', 'ok'])
})

test('a draw is the same with the same seed, another with another, and has everything in it', () => {
  const drawn = first(drawnSchedule('7', 50), 400)
  expect(first(drawnSchedule('7', 50), 400)).toEqual(drawn)
  expect(first(drawnSchedule('8', 50), 400)).not.toEqual(drawn)
  expect(new Set(drawn)).toEqual(new Set(['ok', '500', 'redirect', 'timeout', 'reset', 'slow', 'duplicate']))
  const good = drawn.filter((name) => name === 'ok').length
  expect([good > 150, good < 250]).toEqual([true, true])
  expect(new Set(first(drawnSchedule('7', 0), 50))).toEqual(new Set(['ok']))
  expect(new Set(first(drawnSchedule('7', 100, '410,429'), 50))).toEqual(new Set(['410', '429']))
})

test.each(['', 'ok*0', 'okay', '99', '600', 'reset*', 'ok,,reset', 'ok*x'])('%j is no schedule', (text) => {
  expect(() => readSchedule(text)).toThrow(UsageError)
})
