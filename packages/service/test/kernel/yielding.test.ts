/** Work that takes long lets the event loop see to others. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { yielder } from '../../src/kernel/yielding.ts'

test('work yields to the event loop once it has run for long, and then not until it has again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const yieldWhenDue = yielder()
  vi.advanceTimersByTime(7)
  expect(yieldWhenDue()).toBeUndefined()
  vi.advanceTimersByTime(5)
  let others = 0
  void nextTurn().then(() => others++)
  await yieldWhenDue()
  expect(others).toBe(1)
  expect(yieldWhenDue()).toBeUndefined()
})
