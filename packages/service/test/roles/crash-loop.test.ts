import { expect, test } from 'vitest'
import { endsInARow, healthyAfter, startsAgainAfter, troubleOf } from '../../src/roles/supervise.ts'

test('a worker that does not stay up is started again after longer and longer, half a minute at most', () => {
  let ends = 0
  const waits = Array.from({ length: 9 }, () => {
    ends = endsInARow(ends, 1_000)
    return startsAgainAfter(ends)
  })
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
})

test('after a healthy minute it is as if it had never ended', () => {
  expect(endsInARow(7, healthyAfter - 1)).toBe(8)
  expect(endsInARow(7, healthyAfter)).toBe(1)
  expect(startsAgainAfter(1)).toBe(500)
})

test('it is told of from the third end in a row until one has run for a minute', () => {
  expect(troubleOf(0, 5)).toBe(null)
  expect(troubleOf(2, 0)).toBe(null)
  expect(troubleOf(3, 0)).toContain('3 times in a row')
  expect(troubleOf(3, healthyAfter - 1)).toContain('3 times in a row')
  expect(troubleOf(3, healthyAfter)).toBe(null)
})
