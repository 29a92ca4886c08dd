/** kill -9 of workers while they make the deliveries of a large commit, and of a recovery: another goes on where it was, and each is made once. */
import { expect, test } from 'vitest'
import { repeatedAtMost, startHooks } from '../../../testbed/arrivals.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

/** More than are made in a piece. */
const tickets = 2_000
/** More than are made before some are sent. */
const missed = 2_000

test('kill -9 of one worker after another in the middle of the deliveries of a large commit, and of a recovery, loses none and repeats none', async () => {
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
  for (let made = 0; made < tickets; made += 1_000) {
    const items = Array.from({ length: 1_000 }, (_, n) => ({
      customerId: customer.id,
      subject: `T ${made + n}`,
    }))
    expect((await api.post('/v1/tickets/batch', { items })).status).toBe(200)
  }
  const ids: string[] = []
  for (const name of ['one', 'two']) {
    const hook = await hooks.register({ url: service.url, token: api.token }, name, ['ticket.deleted'])
    ids.push(hook.id)
  }
  const made = async () => {
    const { rows } = await pool.query<{ made: number; left: number }>(
      'select (select count(*)::int from deliveries) as made, (select count(*)::int from delivery_jobs) as left',
    )
    return rows[0] ?? { made: 0, left: 0 }
  }
  const first = await start()
  expect((await api.delete(`/v1/customers/${customer.id}`)).status).toBe(204)
  await eventually('it is under way', async () => (await made()).made > 0)
  await first.end('SIGKILL')
  const left = await made()
  expect(left.made).toBeLessThan(2 * tickets)
  expect(left.left).toBeGreaterThan(0)

  // And wherever the next ones are, some of them in a piece, some while they send.
  const killedAt = [left.made]
  for (let kill = 0; kill < 2; kill++) {
    const next = await start()
    const until = (killedAt.at(-1) ?? 0) + Math.ceil(Math.random() * tickets)
    await eventually('it goes on', async () => {
      const now = await made()
      return now.made >= until || now.left === 0
    })
    await next.end('SIGKILL')
    killedAt.push((await made()).made)
  }
  console.log(`killed with so many of ${2 * tickets} deliveries made: ${killedAt.join(', ')}`)

  const second = await start()
  const total = async (id: string, query: string) =>
    (await api.get(`/v1/webhooks/${id}/deliveries?limit=1${query}`)).json.pagination.total
  for (const id of ids) {
    await eventually('all have arrived', async () => (await total(id, '&status=succeeded')) === tickets)
    expect(await total(id, '')).toBe(tickets)
  }
  expect((await made()).left).toBe(0)
  for (const name of ['one', 'two']) {
    const arrived = hooks.of(name)
    expect(new Set(arrived.map(({ eventId }) => eventId)).size).toBe(tickets)
    expect(arrived.length).toBeLessThanOrEqual(tickets + killedAt.length * repeatedAtMost)
  }

  // As if another customer had changed so often while an endpoint was disabled.
  const other = await makeCustomer(api)
  await pool.query(
    `insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
       select $1, new_uuid_v7(m.at), 'customer.updated', m.at, 'customer', $2, '{}'
         from (select now() - n * interval '100 milliseconds' as at from generate_series(1, $3) as n) m`,
    [api.organizationId, other.id, missed],
  )
  const hook = await hooks.register({ url: service.url, token: api.token }, 'late', ['customer.updated'])
  const path = `/v1/webhooks/${hook.id}`
  const since = new Date(Date.now() - 3_600_000).toISOString()
  // They are older than the endpoint.
  const window = { since, includeBeforeCreation: true }
  const { id } = (await api.post(`${path}/recover`, window)).json
  const read = async () => (await api.get(`${path}/recoveries/${id}`)).json
  await eventually('the recovery is under way', async () => (await read()).created > missed / 10)
  await second.end('SIGKILL')
  const stopped = await read()
  expect(stopped.status).toBe('running')
  expect(stopped.created).toBeLessThan(missed)

  const third = await start()
  await eventually('it is done', async () => (await read()).status === 'done')
  expect(await read()).toMatchObject({ created: missed, retried: 0 })
  await eventually('all have arrived', async () => (await total(hook.id, '&status=succeeded')) === missed)
  expect(await total(hook.id, '')).toBe(missed)
  const recovered = hooks.of('late')
  expect(new Set(recovered.map(({ eventId }) => eventId)).size).toBe(missed)
  expect(recovered.length).toBeLessThanOrEqual(missed + repeatedAtMost)

  const again = await api.post(`${path}/recover`, window)
  const repeated = async () => (await api.get(`${path}/recoveries/${again.json.id}`)).json
  await eventually('it is done again', async () => (await repeated()).status === 'done')
  expect(await repeated()).toMatchObject({ created: 0, retried: 0 })
  expect((await third.end('SIGTERM')).code).toBe(0)
})
