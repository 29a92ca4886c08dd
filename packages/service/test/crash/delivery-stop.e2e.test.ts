/** How the worker of role `all` ends: on SIGTERM, and with its parent. What it leaves is due. */
import { expect, test } from 'vitest'
import { processesOf } from '../../../embedded-postgres/src/processes.ts'
import { duplicates, type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import { standing } from '../../../testbed/delivery-audit.ts'
import { createCustomers } from '../../../testbed/desk-under-fire.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { install } from '../../../testbed/installation.ts'
import { type ServiceProcess, workerOf } from '../../../testbed/services.ts'

/** Answers nobody before `open` is called. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<number>()
  return { script: () => promise, open: () => resolve(200) }
}

function gone(pid: number): boolean {
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

/** The worker was told, which takes it a while on a busy machine: until then it rightly begins what is due. */
async function workerStops(service: ServiceProcess): Promise<void> {
  await eventually('the worker stops', () => service.output.all.includes('the worker stops'))
}

test.concurrent('SIGTERM of role all: what is in flight is completed, what is not begun is left', async () => {
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
  await workerStops(service)
  expect(service.running()).toBe(true)
  const since = performance.now()
  gated.open()
  expect((await ended).code).toBe(0)
  expect(performance.now() - since).toBeLessThan(8_000)
  expect(hooks.arrivals).toHaveLength(16)
  expect(gone(worker!)).toBe(true)

  // The database without any worker, to see what was left.
  const api = await installation.start('holder', 'api')
  const pool = await installation.connect()
  expect(await standing(pool)).toEqual({ succeeded: 16, pending: 4, attempts: 16, leased: 0 })
  // A worker that comes after the changes finds them.
  const next = await installation.start('beside', 'worker')
  await eventually('the other four arrive', async () => (await standing(pool)).succeeded === 20)
  expect((await next.end('SIGTERM')).code).toBe(0)
  await pool.end()
  expect(hooks.arrivals).toHaveLength(20)
  expect(duplicates(hooks.arrivals)).toBe(0)
  expect((await api.end('SIGTERM')).code).toBe(0)
})

test.concurrent('kill -9 of the parent: its worker completes what is in flight, and ends', async () => {
  await using hooks = await startHooks()
  await using installation = await install(hooks.settings)
  const service = await installation.start('holder')
  const worker = await workerOf(service)
  const gated = await sixteenOfTwenty(service, installation.token, hooks)
  process.kill(service.pid, 'SIGKILL')
  await eventually('the parent is gone', () => !service.running())
  await workerStops(service)
  expect(gone(worker!)).toBe(false)
  gated.open()
  await eventually('the worker is gone', () => gone(worker!))
  expect((await service.ended).code).toBe(null)

  const pool = await installation.connect()
  expect(await standing(pool)).toEqual({ succeeded: 16, pending: 4, attempts: 16, leased: 0 })
  const next = await installation.start('holder')
  await eventually('the other four arrive', async () => (await standing(pool)).succeeded === 20)
  await pool.end()
  expect(hooks.arrivals).toHaveLength(20)
  expect(duplicates(hooks.arrivals)).toBe(0)
  const successor = await workerOf(next)
  expect((await next.end('SIGTERM')).code).toBe(0)
  expect(gone(successor!)).toBe(true)
  expect(await processesOf(`${installation.dataDir}/postgres`)).toEqual([])
})
