import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstIdAt, newIdAt, timeOfId } from '../../src/kernel/ids.ts'

const milliseconds = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('an id says when it was made, to the millisecond', () => {
  fc.assert(
    fc.property(milliseconds, (at) => {
      expect(timeOfId(newIdAt(at))).toBe(at)
      expect(timeOfId(firstIdAt(at))).toBe(at)
    }),
  )
})

test('as the database makes them', () => {
  expect(timeOfId('019ca945-0a00-7000-8000-000000000000')).toBe(Date.parse('2026-03-01T12:00:00.000Z'))
})
