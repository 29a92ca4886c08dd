/**
 * Workers beside an API: with the wrong key they do not start, on SIGTERM they wait no longer than they may, they find what was
 * committed before them, and without notifications they poll. Nothing is lost.
 */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'
import { type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import { busyEndpointQueues, standing } from '../../../testbed/delivery-audit.ts'
import { createCustomers } from '../../../testbed/desk-under-fire.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'
import { claimKey } from '../../src/delivery/endpoint/vault.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')

/** Ends the worker's listening connection, not the API's; how many there were. */
async function endListeners(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a
       where a.datname = current_database() and a.application_name = 'deskwire listener'
         and a.query ilike 'listen deskwire_deliveries'`,
  )
  return rows.length
}

async function listens(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from pg_stat_activity a where a.datname = current_database()
       and a.application_name = 'deskwire listener' and a.state = 'idle' and a.query ilike 'listen deskwire_deliveries'`,
  )
  return rows.length === 1
}

/** Makes a change while nothing is under way, and answers how long it took to arrive, in milliseconds. */
async function latency(service: TestService, hooks: Hooks): Promise<number> {
  await eventually(
    'nothing is under way',
    async () => (await busyEndpointQueues(service.database.pool)) === 0,
  )
  const before = hooks.arrivals.length
  expect((await service.api.post('/v1/customers', { name: 'Ada' })).status).toBe(201)
  const since = performance.now()
  await eventually('it arrives', () => hooks.arrivals.length > before)
  return performance.now() - since
}

const line =
  'deskwire: DESKWIRE_ENCRYPTION_KEY: what is set is not the key that the signing secrets of this database are encrypted with: set that key again; if it is lost, see "A lost key" in docs/guides/encryption-key.md\n'

test('the wrong key, no answer at SIGTERM, and no notifications', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  const settings = (byte: number) => ({
    ...hooks.settings,
    DESKWIRE_ENCRYPTION_KEY: keyOf(byte),
    DESKWIRE_ANSWER_TIMEOUT: '60s',
    DESKWIRE_LOG_LEVEL: 'warn',
  })
  const flags = (role: string) => ['--role', role, '--database-url', socketUrl(connection)]
  const start = () => services.serve(flags('worker'), settings(7))
  const refused = async () => {
    for (const role of ['worker', 'api', 'all']) {
      const ran = await runHere(['serve', '--port', '0', ...flags(role)], { settings: settings(8) })
      expect([role, ran]).toEqual([role, { code: 2, stdout: '', stderr: line }])
    }
  }

  hooks.script('half', (nth) => (nth === 1 ? 200 : null))
  const hook = await hooks.register({ url: service.url, token: service.api.token }, 'half', [
    'customer.created',
  ])
  await createCustomers(service, service.api.token, 3)
  await claimKey(pool, { current: Buffer.alloc(32, 7), previous: null })
  await refused()
  expect(await standing(pool)).toMatchObject({ succeeded: 0, pending: 3, attempts: 0 })
  expect(hooks.arrivals).toEqual([])
  expect((await service.api.get(`/v1/webhooks/${hook.id}`)).json).toMatchObject({
    status: 'active',
    failureCount: 0,
  })

  // SIGTERM waits 15 seconds for no answer: the attempt is made again.
  const first = await start()
  await eventually('two are not answered', () => hooks.arrivals.length === 3 && hooks.inFlight === 0)
  const since = performance.now()
  expect((await first.end('SIGTERM')).code).toBe(0)
  expect(performance.now() - since).toBeLessThan(15_000)
  expect(await standing(pool)).toEqual({ succeeded: 1, pending: 2, attempts: 1, leased: 0 })
  hooks.script('half', () => 200)
  const worker = await start()
  await eventually('both arrive', async () => (await standing(pool)).succeeded === 3)
  expect(hooks.arrivals).toHaveLength(5)

  // Whenever it listens, it is cut off.
  await eventually('the worker listens', () => listens(pool))
  let cut = 0
  let breaking = true
  const breaker = eventually('the test is done with it', async () => {
    cut += await endListeners(pool)
    return !breaking
  })
  await eventually('it was cut off', () => cut > 0)
  for (let n = 0; n < 6; n++) await latency(service, hooks)
  await eventually('it has listened again, and was cut off', () => cut > 1)
  breaking = false
  await breaker
  expect(worker.output.all).toContain('notifications are lost for now; polling goes on')
  expect(hooks.arrivals).toHaveLength(11)

  // Polling alone takes the better part of 500 ms each time, as each change is made right after a poll.
  await eventually('the worker listens again', () => listens(pool))
  let quick = 0
  await eventually('notifications work again', async () => {
    quick = (await latency(service, hooks)) < 250 ? quick + 1 : 0
    return quick === 5
  })
  expect(new Set(hooks.arrivals.map(({ eventId }) => eventId)).size).toBe(hooks.arrivals.length - 2)
  expect((await worker.end('SIGTERM')).code).toBe(0)

  // Another key is refused also when there are no secrets.
  await service.api.delete(`/v1/webhooks/${hook.id}`)
  await refused()
})
