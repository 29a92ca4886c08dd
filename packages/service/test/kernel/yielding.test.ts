/** Turns of what takes long, and the rests between them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { restBetweenTurns, yielder } from '../../src/kernel/yielding.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  restBetweenTurns(() => 0)
  vi.useRealTimers()
})

test('a thread that is to rest does so after each turn that was long, for as long as its length says', async () => {
  const asked: number[] = []
  restBetweenTurns((turn) => {
    asked.push(turn)
    return 1
  })
  const yieldWhenDue = yielder()
  vi.advanceTimersByTime(7)
  expect(yieldWhenDue()).toBeUndefined()
  vi.advanceTimersByTime(5)
  await yieldWhenDue()
  expect(asked).toEqual([12])
  // A new turn has begun.
  expect(yieldWhenDue()).toBeUndefined()
})
