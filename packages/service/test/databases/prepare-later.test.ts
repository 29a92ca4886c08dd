/** A database that cannot be used yet is tried again and again, and told of once for each reason. */
import { Pool } from 'pg'
import pino from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prepareLater } from '../../src/roles/prepare.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('it is told of once, however often it is tried; of another reason once more; and when it can be used', async () => {
  const told: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => told.push(JSON.parse(line).reason ?? 'usable') })
  const database = { name: 'two', pool: new Pool(), sessions: new Pool(), address: { url: 'postgres://two' } }
  let reason = 'away'
  let tries = 0
  const { served, stop } = await prepareLater([database], log, async () => {
    tries++
    if (reason !== '') throw new Error(reason)
  })
  const [two] = served
  const triedAgain = async () => {
    const before = tries
    await vi.advanceTimersByTimeAsync(20_000)
    return tries - before
  }
  expect(await triedAgain()).toBeGreaterThan(4)
  expect(told).toEqual(['away'])
  expect(two?.isReady()).toBe(false)
  reason = 'newer'
  expect(await triedAgain()).toBeGreaterThan(4)
  expect(told).toEqual(['away', 'newer'])
  reason = ''
  expect(await triedAgain()).toBe(1)
  await two?.ready
  expect(two?.isReady()).toBe(true)
  expect(await triedAgain()).toBe(0)
  expect(told).toEqual(['away', 'newer', 'usable'])
  await stop()
})
