/** The host of the database vanishes without a word, under an API and a worker: both say so in time, and go on by themselves. */
import { expect, test } from 'vitest'
import { startHooks } from '../../../testbed/arrivals.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices } from '../../../testbed/services.ts'
import { vanishingDatabase } from '../../../testbed/vanishing-database.ts'

/** What the service promises after the host is back, in milliseconds. */
const backWithin = 30_000

test.concurrent('a database that vanishes: readers are refused in time, and when it is back both serve within 30 s', async () => {
  await using hooks = await startHooks()
  // Beside the outage: it makes what there is, and sees what the others do.
  await using beside = await testService()
  await using way = await vanishingDatabase(beside.database.connection)
  await using services = createServices()
  const environment = {
    ...hooks.settings,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    // The outage is found out two seconds after a statement should have ended: here without 30 s before them.
    DESKWIRE_DATABASE_URL: way.url({ statement_timeout: '3000' }),
  }
  const serve = (role: string) => services.serve(['--role', role], environment)
  const [api, worker] = await Promise.all([serve('api'), serve('worker')])
  const { token } = beside.api
  const { pool } = beside.database
  await hooks.register({ url: beside.url, token }, 'shop', ['customer.created'])
  const call = (path: string, body?: unknown) =>
    fetch(api.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
  expect((await call('/v1/customers', { name: 'before' })).status).toBe(201)
  await eventually('it is delivered', () => hooks.of('shop').length === 1)
  const { rows } = await pool.query<{ since: string }>('select clock_timestamp()::text as since')
  way.vanish()
  const refused = await Promise.all(Array.from({ length: 20 }, () => call('/v1/customers')))
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
  await eventually('the worker says so', () => /"level":"warn".*could not look for/.test(worker.output.all))
  // Made by somebody who still reaches the database, and told to nobody whose connection is dead.
  await beside.api.post('/v1/customers', { name: 'meanwhile' })

  way.comeBack()
  const since = performance.now()
  const back = async (what: string, holds: () => boolean | Promise<boolean>) => {
    await eventually(what, holds)
    return Math.round(performance.now() - since)
  }
  const took = await Promise.all([
    back('the API reads', async () => (await call('/v1/customers')).status === 200),
    back('the API writes', async () => (await call('/v1/customers', { name: 'after' })).status === 201),
    back('what is due is sent', () => hooks.of('shop').length >= 2),
    back('both listen', async () => {
      const { rowCount } = await pool.query(
        `select 1 from pg_stat_activity a where a.datname = current_database()
           and a.application_name = 'deskwire listener' and a.backend_start > $1`,
        [rows[0]?.since],
      )
      return rowCount === 2
    }),
  ])
  expect(Math.max(...took)).toBeLessThan(backWithin)
  await eventually('all is delivered', () => hooks.of('shop').length >= 3)
  expect((await api.end('SIGTERM')).code).toBe(0)
  expect((await worker.end('SIGTERM')).code).toBe(0)
})

test.concurrent('SIGTERM while the database is gone: nothing waits for it', async () => {
  await using beside = await testService()
  await using way = await vanishingDatabase(beside.database.connection)
  await using services = createServices()
  const environment = {
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_DATABASE_URL: way.url(),
  }
  const serve = (role: string) => services.serve(['--role', role], environment)
  const running = await Promise.all([serve('api'), serve('worker')])
  const { token } = beside.api
  const read = () =>
    fetch(`${running[0]?.url}/v1/customers`, { headers: { authorization: `Bearer ${token}` } })
  expect((await read()).status).toBe(200)
  way.vanish()
  const cut = read().then(
    ({ status }) => status,
    () => 'cut',
  )
  await eventually('connections lead nowhere', () => way.dead > 2)
  const since = performance.now()
  const ended = await Promise.all(running.map((service) => service.end('SIGTERM')))
  expect(ended.map(({ code }) => code)).toEqual([0, 0])
  // A statement that hangs takes 32 s.
  expect(performance.now() - since).toBeLessThan(25_000)
  expect(await cut).toBe('cut')
})

test.concurrent('a worker that nothing else keeps running stays while its database refuses it', async () => {
  await using beside = await testService()
  await using way = await vanishingDatabase(beside.database.connection)
  await using services = createServices()
  const worker = await services.serve(['--role', 'worker'], {
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_DATABASE_URL: way.url(),
    // Its thread would keep the process too.
    DESKWIRE_SUMMARIZER: 'off',
  })
  await way[Symbol.asyncDispose]()
  const tries = () => worker.output.all.split('notifications are lost').length - 1
  await eventually('it tries again, or ends', () => tries() > 3 || !worker.running())
  expect(worker.running()).toBe(true)
  expect((await worker.end('SIGTERM')).code).toBe(0)
})
