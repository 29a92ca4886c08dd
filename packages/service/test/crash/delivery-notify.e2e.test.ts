/** Notifications are hints: without them a worker polls, and with the next connection it is quick again. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { type Hooks, startHooks } from '../harness/arrivals.ts'
import { busyLanes } from '../harness/delivery-audit.ts'
import { eventually } from '../harness/locks.ts'
import { type TestService, testService } from '../harness/service.ts'
import { createServices, socketUrl } from '../harness/services.ts'

/** Ends the worker's listening connection; how many there were. */
async function endListeners(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a
       where a.datname = current_database() and a.application_name = 'deskwire listener'`,
  )
  return rows.length
}

async function listens(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from pg_stat_activity a where a.datname = current_database()
       and a.application_name = 'deskwire listener' and a.state = 'idle' and a.query ilike 'listen %'`,
  )
  return rows.length === 1
}

/** Makes a change while nothing is under way, and answers how long it took to arrive, in milliseconds. */
async function latency(service: TestService, hooks: Hooks): Promise<number> {
  await eventually('nothing is under way', async () => (await busyLanes(service.database.pool)) === 0)
  const before = hooks.arrivals.length
  expect((await service.api.post('/v1/customers', { name: 'Ada' })).status).toBe(201)
  const since = performance.now()
  await eventually('it arrives', () => hooks.arrivals.length > before)
  return performance.now() - since
}

test('a worker finds what was committed before it started, and without notifications', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  await hooks.register({ url: service.url, token: service.api.token }, 'steady', ['customer.created'])
  for (let n = 0; n < 5; n++) await service.api.post('/v1/customers', { name: `c${n}` })

  const worker = await services.serve(['--role', 'worker', '--database-url', socketUrl(connection)], {
    ...hooks.settings,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  await eventually('what was there before it arrives', () => hooks.arrivals.length === 5)

  // Whenever it listens, it is cut off.
  await eventually('the worker listens', () => listens(pool))
  let cut = 0
  let breaking = true
  const breaker = eventually(
    'the test is done with it',
    async () => {
      cut += await endListeners(pool)
      return !breaking
    },
    60_000,
  )
  await eventually('it was cut off', () => cut > 0)
  for (let n = 0; n < 6; n++) await latency(service, hooks)
  await eventually('it has listened again, and was cut off', () => cut > 1)
  breaking = false
  await breaker
  expect(worker.output()).toContain('notifications are lost for now; polling goes on')
  expect(hooks.arrivals).toHaveLength(11)

  // Polling alone takes the better part of 500 ms each time, as each change is made right after a poll.
  await eventually('the worker listens again', () => listens(pool))
  let quick = 0
  await eventually('notifications work again', async () => {
    quick = (await latency(service, hooks)) < 250 ? quick + 1 : 0
    return quick === 5
  })
  expect(new Set(hooks.arrivals.map(({ eventId }) => eventId)).size).toBe(hooks.arrivals.length)
  expect(await worker.end('SIGTERM')).toBe(0)
})
