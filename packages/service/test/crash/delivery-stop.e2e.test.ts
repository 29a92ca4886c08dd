/** How the worker of role `all` ends: on SIGTERM, and with its parent. What it leaves is due. */
import { expect, test } from 'vitest'
import { processesOf } from '../../../embedded-postgres/src/processes.ts'
import { duplicates, type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import { standing } from '../../../testbed/delivery-audit.ts'
import { createCustomers } from '../../../testbed/desk-under-fire.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { install } from '../../../testbed/installation.ts'
import { kill } from '../../../testbed/program.ts'
import { type ServiceProcess, workerOf } from '../../../testbed/services.ts'
import { embedded } from '../../src/db/embedded.ts'
import { createPool } from '../../src/db/pool.ts'

/** Answers nobody before `open` is called. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<number>()
  return { script: () => promise, open: () => resolve(200) }
}

function gone(pid: number): boolean {
  return !kill(pid, 0)
}

/** Sixteen requests at once are what an endpoint gets; twenty changes leave four that are not begun. */
async function sixteenOfTwenty(service: ServiceProcess, token: string, hooks: Hooks) {
  const gated = gate()
  const before = hooks.arrivals.length
  hooks.script('gated', gated.script)
  await createCustomers(service, token, 20)
  await eventually('sixteen are in flight', () => hooks.inFlight === 16)
  expect(hooks.arrivals).toHaveLength(before + 16)
  return gated
}

/** The worker was told, which takes it a while on a busy machine: until then it rightly begins what is due. */
async function workerStops(service: ServiceProcess): Promise<void> {
  await eventually('the worker stops', () => service.output.all.includes('the worker stops'))
}

/** What stands in the database without any process beside it. */
async function left(dataDir: string) {
  const database = await embedded.start({ dataDir })
  const pool = createPool(database.connection, { max: 1, onIdleError: () => {} })
  try {
    return await standing(pool)
  } finally {
    await pool.end()
    await database.stop()
  }
}

test('what is in flight is completed, what is not begun is left: at SIGTERM of role all, and as a worker’s parent is killed', async () => {
  await using hooks = await startHooks()
  await using installation = await install(hooks.settings)
  const { dataDir, token } = installation
  const first = await installation.start('holder')
  await hooks.register({ url: first.url, token }, 'gated', ['customer.created'])
  const worker = await workerOf(first)
  const gated = await sixteenOfTwenty(first, token, hooks)
  const ended = first.end('SIGTERM')
  await eventually('nothing new is accepted', () =>
    fetch(first.url).then(
      () => false,
      () => true,
    ),
  )
  await workerStops(first)
  expect(first.running()).toBe(true)
  const since = performance.now()
  gated.open()
  expect((await ended).code).toBe(0)
  expect(performance.now() - since).toBeLessThan(8_000)
  expect(hooks.arrivals).toHaveLength(16)
  expect(gone(worker!)).toBe(true)
  expect(await left(dataDir)).toEqual({ succeeded: 16, pending: 4, attempts: 16, leased: 0 })

  // A worker that comes after the changes finds them.
  const second = await installation.start('holder')
  await eventually('the other four arrive', () => hooks.arrivals.length === 20 && hooks.inFlight === 0)
  const orphan = await workerOf(second)
  const again = await sixteenOfTwenty(second, token, hooks)
  kill(second.pid)
  await eventually('the parent is gone', () => !second.running())
  await workerStops(second)
  expect(gone(orphan!)).toBe(false)
  again.open()
  await eventually('the worker is gone', () => gone(orphan!))
  expect((await second.ended).code).toBe(null)

  const pool = await installation.connect()
  expect(await standing(pool)).toEqual({ succeeded: 36, pending: 4, attempts: 36, leased: 0 })
  const third = await installation.start('holder')
  await eventually('the other four arrive', async () => (await standing(pool)).succeeded === 40)
  await pool.end()
  expect(hooks.arrivals).toHaveLength(40)
  expect(duplicates(hooks.arrivals)).toBe(0)
  const successor = await workerOf(third)
  expect((await third.end('SIGTERM')).code).toBe(0)
  expect(gone(successor!)).toBe(true)
  expect(await processesOf(`${dataDir}/postgres`)).toEqual([])
})
