/**
 * A failover to a server whose clock is behind. One server plays both: what its database takes for the time is moved,
 * for the commit function and for the processes that follow that clock alike.
 */
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { beginning, drain, syncPage } from '../../../testbed/drain.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { followDatabaseClock } from '../../src/db/clock.ts'

const minute = 60_000

// Vitest moves the timers of the global object alone; these are made to go with them.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: (milliseconds: number, value: unknown, options: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, milliseconds, value)
      options.signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(options.signal?.reason)
      })
    }),
}))

beforeEach(() => {
  // They run on by themselves, and jump when they are told to.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
})
afterEach(() => {
  vi.useRealTimers()
})

/**
 * Lets the database's clock be set: a `clock_timestamp` of its own comes before the server's. Only connections from then
 * on see it.
 */
async function settableClock(database: TestDatabase): Promise<(behind: number) => Promise<void>> {
  const client = new Client(database.connection)
  await client.connect()
  await client.query(`create table server_clock as select interval '0' as behind`)
  await client.query(`create function clock_timestamp() returns timestamptz language sql volatile as
    'select pg_catalog.clock_timestamp() - c.behind from public.server_clock c'`)
  await client.query(`alter database ${database.name} set search_path = public, pg_catalog`)
  await client.end()
  return async (behind) => {
    await database.pool.query(`update server_clock set behind = $1 * interval '1 millisecond'`, [behind])
  }
}

/** A service as it really is: it has the database's time, and may not be ahead of that. */
async function following(database: TestDatabase): Promise<TestService & { stopClock(): void }> {
  const clock = followDatabaseClock(database.pool)
  await clock.ready
  const service = await testService({ database, clock, guarded: true })
  return Object.assign(service, { stopClock: clock.stop })
}

const at = ({ updatedAt }: { updatedAt: string }) => Date.parse(updatedAt)

test('order, cursors, watermarks and readers that wait outlive it, and who followed the former server asks again', async () => {
  await using database = await testDatabase()
  const setClock = await settableClock(database)
  await using before = await following(database)
  const { api } = before
  const made = [await makeCustomer(api), await makeCustomer(api)]
  const { nextCursor } = (await drain(api, '/v1/customers', beginning)).last.pagination
  const waiting = api.get(`/v1/customers?cursor=${nextCursor}&wait=50`)
  await eventually('it waits', () => before.app.readers.waiting === 1)

  await setClock(10 * minute)
  // It still has the former server's time, which is no one's now.
  const refused = await api.post('/v1/customers', { name: 'by the former clock' })
  expect([refused.status, refused.json.code]).toEqual([503, 'unavailable'])
  expect(before.app.readers.waiting).toBe(1)

  await using after = await following(database)
  const there = after.withToken(api.token)
  made.push(await makeCustomer(there))
  expect(at(made[2])).toBe(at(made[1]) + 1)
  expect(Date.parse(made[2].createdAt)).toBeLessThan(at(made[2]) - 9 * minute)
  expect((await waiting).json.data).toEqual([made[2]])
  for (const start of [`cursor=${nextCursor}`, `updatedAfter=${made[1].updatedAt}`]) {
    expect((await syncPage(there, '/v1/customers', start)).data).toEqual([made[2]])
  }
  expect(after.logged.filter(({ msg }) => String(msg).includes('ahead of the database'))).toHaveLength(1)

  // Ten seconds later at most it knows.
  vi.advanceTimersByTime(10_000)
  await eventually('the process from before commits', async () => {
    const { status, json } = await api.post('/v1/customers', { name: 'late' })
    if (status === 201) made.push(json)
    return status === 201
  })
  expect(at(made[3])).toBe(at(made[2]) + 1)
  // A first sync has them in the order of their commits, though the times at which they were made go back.
  expect((await drain(api, '/v1/customers', beginning, 1)).records).toEqual(made)
  before.stopClock()
  after.stopClock()
})
