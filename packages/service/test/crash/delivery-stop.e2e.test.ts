/** How workers end: on SIGTERM, with their parent, and when an answer does not come. What they leave is due. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { processesOf } from '../../src/db/embedded/processes.ts'
import { duplicates, type Hooks, startHooks } from '../harness/arrivals.ts'
import { callOf } from '../harness/desk-under-fire.ts'
import { eventually } from '../harness/locks.ts'
import { install } from '../harness/process.ts'
import { testService } from '../harness/service.ts'
import { createServices, type ServiceProcess, socketUrl, workerOf } from '../harness/services.ts'

/** Answers nobody before `open` is called. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<number>()
  return { script: () => promise, open: () => resolve(200) }
}

async function createCustomers(service: { readonly url: string }, token: string, count: number) {
  const call = callOf(service.url, token)
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) => call('POST', '/v1/customers', { name: `c${n}` })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(201))
}

/** Deliveries by status, and the lanes that somebody holds. */
async function standing(pool: Pool) {
  const { rows } = await pool.query<{ status: string; count: number; attempts: number }>(
    `select d.status, count(*)::int as count, sum(d.attempt_count)::int as attempts from deliveries d group by d.status`,
  )
  const lanes = await pool.query('select l.webhook_id from lanes l where l.lease_id is not null')
  const of = (status: string) => rows.find((row) => row.status === status) ?? { count: 0, attempts: 0 }
  return {
    succeeded: of('succeeded').count,
    pending: of('pending').count,
    attempts: rows.reduce((sum, { attempts }) => sum + attempts, 0),
    leased: lanes.rows.length,
  }
}

async function gone(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** Sixteen requests at once are what an endpoint gets; twenty changes leave four that are not begun. */
async function sixteenOfTwenty(service: ServiceProcess, token: string, hooks: Hooks) {
  const gated = gate()
  hooks.script('gated', gated.script)
  await hooks.register({ url: service.url, token }, 'gated', ['customer.created'])
  await createCustomers(service, token, 20)
  await eventually('sixteen are in flight', () => hooks.inFlight === 16)
  return gated
}

test.concurrent('SIGTERM of role all: what is in flight is settled, what is not begun is left', async () => {
  await using hooks = await startHooks()
  await using installation = await install(hooks.settings)
  const service = await installation.start('holder')
  const worker = await workerOf(service)
  const gated = await sixteenOfTwenty(service, installation.token, hooks)
  const ended = service.end('SIGTERM')
  await eventually('nothing new is accepted', () =>
    fetch(service.url).then(
      () => false,
      () => true,
    ),
  )
  expect(service.running()).toBe(true)
  const since = performance.now()
  gated.open()
  expect(await ended).toBe(0)
  expect(performance.now() - since).toBeLessThan(8_000)
  expect(hooks.arrivals).toHaveLength(16)
  expect(await gone(worker!)).toBe(true)

  // The database without any worker, to see what was left.
  const api = await installation.start('holder', 'api')
  const pool = await installation.connect()
  expect(await standing(pool)).toEqual({ succeeded: 16, pending: 4, attempts: 16, leased: 0 })
  // A worker that comes after the changes finds them.
  const next = await installation.start('beside', 'worker')
  await eventually('the other four arrive', async () => (await standing(pool)).succeeded === 20)
  expect(await next.end('SIGTERM')).toBe(0)
  await pool.end()
  expect(hooks.arrivals).toHaveLength(20)
  expect(duplicates(hooks.arrivals)).toBe(0)
  expect(await api.end('SIGTERM')).toBe(0)
})

test.concurrent('kill -9 of the parent: its worker settles what is in flight, and ends', async () => {
  await using hooks = await startHooks()
  await using installation = await install(hooks.settings)
  const service = await installation.start('holder')
  const worker = await workerOf(service)
  const gated = await sixteenOfTwenty(service, installation.token, hooks)
  process.kill(service.pid, 'SIGKILL')
  await eventually('the parent is gone', () => !service.running())
  expect(await gone(worker!)).toBe(false)
  gated.open()
  await eventually('the worker is gone', () => gone(worker!))
  expect(await service.ended).toBe(null)

  const pool = await installation.connect()
  expect(await standing(pool)).toEqual({ succeeded: 16, pending: 4, attempts: 16, leased: 0 })
  const next = await installation.start('holder')
  await eventually('the other four arrive', async () => (await standing(pool)).succeeded === 20)
  await pool.end()
  expect(hooks.arrivals).toHaveLength(20)
  expect(duplicates(hooks.arrivals)).toBe(0)
  const successor = await workerOf(next)
  expect(await next.end('SIGTERM')).toBe(0)
  expect(await gone(successor!)).toBe(true)
  expect(await processesOf(`${installation.dataDir}/postgres`)).toEqual([])
})

test.concurrent('SIGTERM waits 15 seconds for no answer: the attempt is made again', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  const start = () =>
    services.serve(['--role', 'worker', '--database-url', socketUrl(connection)], {
      ...hooks.settings,
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DESKWIRE_ANSWER_TIMEOUT: '60s',
    })
  const worker = await start()
  hooks.script('half', (nth) => (nth === 1 ? 200 : null))
  await hooks.register({ url: service.url, token: service.api.token }, 'half', ['customer.created'])
  await createCustomers(service, service.api.token, 3)
  await eventually('two are not answered', () => hooks.arrivals.length === 3 && hooks.inFlight === 0)
  const since = performance.now()
  expect(await worker.end('SIGTERM')).toBe(0)
  expect(performance.now() - since).toBeLessThan(15_000)
  expect(await standing(pool)).toEqual({ succeeded: 1, pending: 2, attempts: 1, leased: 0 })

  hooks.script('half', () => 200)
  const next = await start()
  await eventually('both arrive', async () => (await standing(pool)).succeeded === 3)
  expect(hooks.arrivals).toHaveLength(5)
  expect(await next.end('SIGTERM')).toBe(0)
})
