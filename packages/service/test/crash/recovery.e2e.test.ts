/** kill -9 of the worker in the middle of a recovery: another goes on where it was, and nothing is made twice or left out. */
import { expect, test } from 'vitest'
import { repeatedAtMost, startHooks } from '../../../testbed/arrivals.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

/** More than are made before some are sent. */
const missed = 2_000

test('kill -9 in the middle of a recovery loses nothing and repeats no delivery', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  const { api } = service
  const start = () =>
    services.serve(['--role', 'worker', '--database-url', socketUrl(connection)], {
      ...hooks.settings,
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DESKWIRE_ANSWER_TIMEOUT: '1s',
    })
  const customer = await makeCustomer(api)
  // As if it had changed so often while the endpoint was disabled.
  await pool.query(
    `insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
       select $1, new_uuid_v7(m.at), 'customer.updated', m.at, 'customer', $2, '{}'
         from (select now() - n * interval '100 milliseconds' as at from generate_series(1, $3) as n) m`,
    [api.organizationId, customer.id, missed],
  )
  const hook = await hooks.register({ url: service.url, token: api.token }, 'steady', ['customer.updated'])
  const path = `/v1/webhooks/${hook.id}`
  const first = await start()
  const since = new Date(Date.now() - 3_600_000).toISOString()
  // They are older than the endpoint.
  const window = { since, includeBeforeCreation: true }
  const { id } = (await api.post(`${path}/recover`, window)).json
  const read = async () => (await api.get(`${path}/recoveries/${id}`)).json

  await eventually('it is under way', async () => (await read()).created > missed / 10)
  await first.end('SIGKILL')
  const left = await read()
  expect(left.status).toBe('running')
  expect(left.created).toBeLessThan(missed)

  const second = await start()
  await eventually('it is done', async () => (await read()).status === 'done')
  expect(await read()).toMatchObject({ created: missed, retried: 0 })
  const log = async (query: string) =>
    (await api.get(`${path}/deliveries?limit=1${query}`)).json.pagination.total
  await eventually('all have arrived', async () => (await log('&status=succeeded')) === missed)
  expect(await log('')).toBe(missed)
  expect(new Set(hooks.arrivals.map(({ eventId }) => eventId)).size).toBe(missed)
  expect(hooks.arrivals.length).toBeLessThanOrEqual(missed + repeatedAtMost)

  const again = await api.post(`${path}/recover`, window)
  const repeated = async () => (await api.get(`${path}/recoveries/${again.json.id}`)).json
  await eventually('it is done again', async () => (await repeated()).status === 'done')
  expect(await repeated()).toMatchObject({ created: 0, retried: 0 })
  expect((await second.end('SIGTERM')).code).toBe(0)
})
