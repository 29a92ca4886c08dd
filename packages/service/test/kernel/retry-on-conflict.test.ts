import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { retryOnConflict } from '../../src/kernel/outcome.ts'

test('thirty writers of one row, of whom one wins at a time, all get through', async () => {
  let version = 0
  const write = () =>
    retryOnConflict(async () => {
      const read = version
      await turn()
      if (version !== read) return null
      version += 1
      return version
    })
  const written = await Promise.all(Array.from({ length: 30 }, write))
  expect(written.toSorted((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 30 }, (_, n) => n + 1),
  )
})

test('one that never wins is told after ten attempts', async () => {
  let made = 0
  const outcome = await retryOnConflict(async () => {
    made += 1
    return null
  })
  expect([outcome, made]).toEqual([null, 10])
})

test('what an attempt throws is thrown, and ends it', async () => {
  let made = 0
  const failing = retryOnConflict(() => {
    made += 1
    return Promise.reject(new Error('no database'))
  })
  await expect(failing).rejects.toThrow('no database')
  expect(made).toBe(1)
})
