/** Whose figures `/metrics` shows when several processes deliver: the API's speaks for the worker beside it. */
import { expect, test } from 'vitest'
import { type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, type ServiceProcess, socketUrl, workerOf } from '../../../testbed/services.ts'

/** A service's database, and one of the command line's processes on it. */
async function beside(hooks: Hooks, flags: readonly string[]) {
  const service = await testService()
  const services = createServices()
  const database = ['--database-url', socketUrl(service.database.connection)]
  const started: ServiceProcess = await services.serve([...flags, ...database], {
    ...hooks.settings,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  await hooks.register({ url: service.url, token: service.api.token }, 'steady', ['customer.created'])
  return {
    started,
    /** A change is made, has arrived, and is completed: what stands in the database is asked for every while only. */
    async deliver() {
      const before = hooks.arrivals.length
      expect((await service.api.post('/v1/customers', { name: 'Ada' })).status).toBe(201)
      await eventually('it arrives', () => hooks.arrivals.length > before)
      await eventually('it is completed', async () => {
        const { rows } = await service.database.pool.query(
          "select 1 from deliveries d where d.status = 'pending'",
        )
        return rows.length === 0
      })
    },
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

const attempts = /^deskwire_delivery_attempts_total\{outcome="succeeded",process="worker"\} (\d+)$/m

async function metricsAt(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

test('role all: the API shows its own figures and those of its worker, also of the next one', async () => {
  await using hooks = await startHooks()
  await using it = await beside(hooks, ['--role', 'all'])
  const { url } = it.started
  await it.deliver()
  const text = await eventually('the attempt is counted', async () => {
    const shown = await metricsAt(url)
    return attempts.exec(shown)?.[1] === '1' && shown
  })
  for (const part of ['api', 'worker'])
    expect(text).toMatch(new RegExp(`^process_resident_memory_bytes\\{process="${part}"\\} \\d+$`, 'm'))
  expect(text.match(/^# TYPE process_resident_memory_bytes /gm)).toHaveLength(1)

  const before = await workerOf(it.started)
  process.kill(before as number, 'SIGKILL')
  await eventually('another worker runs', async () => ![null, before].includes(await workerOf(it.started)))
  await it.deliver()
  await eventually(
    'its attempt is counted, from nothing',
    async () => attempts.exec(await metricsAt(url))?.[1] === '1',
  )
  expect((await it.started.end('SIGTERM')).code).toBe(0)
})

test('role worker: with DESKWIRE_PORT it answers for itself', async () => {
  await using hooks = await startHooks()
  await using it = await beside(hooks, ['--role', 'worker', '--port', '0'])
  const [, url = ''] = /^worker listening on (\S+)$/m.exec(it.started.output.all) ?? []
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect((await fetch(`${url}/v1/customers`)).status).toBe(404)
  await it.deliver()
  await eventually('the attempt is counted', async () => attempts.exec(await metricsAt(url))?.[1] === '1')
  expect(await metricsAt(url)).toMatch(/^deskwire_deliveries_due\{process="worker"\} 0$/m)
  expect((await it.started.end('SIGTERM')).code).toBe(0)
})

test('with DESKWIRE_METRICS_PORT the figures are there and nowhere else, in each role', async () => {
  await using hooks = await startHooks()
  await using all = await beside(hooks, ['--role', 'all', '--metrics-port', '0'])
  const elsewhereOf = ({ output }: ServiceProcess) =>
    /^metrics on (\S+)\/metrics$/m.exec(output.all)?.[1] ?? ''
  expect(await metricsAt(elsewhereOf(all.started))).toMatch(/^deskwire_deliveries_due\{process="api"\} 0$/m)
  await eventually('the worker beside it tells its own', async () =>
    (await metricsAt(elsewhereOf(all.started))).includes('{process="worker"}'),
  )
  expect((await fetch(`${all.started.url}/metrics`)).status).toBe(404)
  expect((await fetch(`${all.started.url}/readyz`)).status).toBe(200)
  expect((await fetch(`${elsewhereOf(all.started)}/v1/customers`)).status).toBe(404)
  expect((await all.started.end('SIGTERM')).code).toBe(0)

  await using worker = await beside(hooks, ['--role', 'worker', '--port', '0', '--metrics-port', '0'])
  const [, own = ''] = /^worker listening on (\S+)$/m.exec(worker.started.output.all) ?? []
  expect(await metricsAt(elsewhereOf(worker.started))).toMatch(
    /^deskwire_deliveries_due\{process="worker"\} 0$/m,
  )
  expect((await fetch(`${own}/metrics`)).status).toBe(404)
  expect((await fetch(`${own}/readyz`)).status).toBe(200)
  expect((await worker.started.end('SIGTERM')).code).toBe(0)
})
