/** Reading events: order, cursor, filters, waiting, scopes, and what is no more. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { day, makeWebhook, second } from '../../../testbed/hooks.ts'
import { interposed } from '../../../testbed/interpose.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

/** Reads all pages from a cursor, or from the beginning. */
async function readAll(api: Api, query: string, limit = 100) {
  const events: { id: string; type: string; data: { id: string } | null }[] = []
  for (let cursor = ''; ; ) {
    const answer = await api.get(`/v1/events?limit=${limit}${query}${cursor}`)
    expect(answer.status, answer.text).toBe(200)
    events.push(...answer.json.data)
    cursor = `&cursor=${answer.json.pagination.nextCursor}`
    if (!answer.json.pagination.hasMore) return { events, cursor }
  }
}

test('events come in the order of their commits, each as a delivery carries it, on pages of any size', async () => {
  const api = await shared().newOrganization()
  const { engine, sent } = testEngine(shared(), clock)
  await makeWebhook(api, { events: ['customer.created', 'customer.updated', 'ticket.created'] })
  const customer = await makeCustomer(api, { name: 'Ada' })
  clock.advance(second)
  const ticket = await makeTicket(api, { customerId: customer.id })
  clock.advance(second)
  await api.patch(`/v1/customers/${customer.id}`, { name: 'Grace' })
  await engine.runDue()
  const { events } = await readAll(api, '')
  expect(events.map(({ type }) => type)).toEqual(['customer.created', 'ticket.created', 'customer.updated'])
  expect(events.map(({ data }) => data?.id)).toEqual([customer.id, ticket.id, customer.id])
  const own = sent.filter(({ body }) => body.includes(api.organizationId))
  const text = (await api.get('/v1/events')).text
  for (const { body } of own) expect(text).toContain(body)
  for (const limit of [1, 2]) expect((await readAll(api, '', limit)).events).toEqual(events)
})

test('a cursor goes on where it was, and misses nothing that is committed later', async () => {
  const api = await shared().newOrganization()
  await makeCustomer(api)
  const first = await readAll(api, '')
  expect(first.events).toHaveLength(1)
  expect((await readAll(api, first.cursor)).events).toEqual([])
  const made = await Promise.all([1, 2, 3].map(() => makeCustomer(api)))
  const next = await readAll(api, first.cursor)
  expect(new Set(next.events.map(({ data }) => data?.id))).toEqual(new Set(made.map(({ id }) => id)))
})

test('types, subject and createdAfter choose', async () => {
  const api = await shared().newOrganization()
  const one = await makeCustomer(api)
  const two = await makeCustomer(api)
  clock.advance(second)
  const since = new Date(clock.now()).toISOString()
  clock.advance(second)
  await api.patch(`/v1/customers/${one.id}`, { name: 'Changed' })
  const of = async (query: string) =>
    (await readAll(api, query)).events.map(({ type, data }) => [type, data?.id])
  expect(await of('&types=customer.updated')).toEqual([['customer.updated', one.id]])
  expect(await of(`&subject=${two.id}`)).toEqual([['customer.created', two.id]])
  expect(await of(`&createdAfter=${since}`)).toEqual([['customer.updated', one.id]])
  expect(await of(`&types=customer.created,ticket.created&subject=${one.id}`)).toEqual([
    ['customer.created', one.id],
  ])
})

test('what is gone has null, its removal its record, and a ping is no event of the list', async () => {
  const api = await shared().newOrganization()
  const webhook = await makeWebhook(api)
  await api.post(`/v1/webhooks/${webhook.id}/ping`, undefined)
  const { id } = await makeCustomer(api)
  await api.delete(`/v1/customers/${id}`)
  const { events } = await readAll(api, '')
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ['customer.created', null],
    ['customer.deleted', { object: 'removed', id, resource: 'customer', removedAt: expect.any(String) }],
  ])
})

describe('waiting', () => {
  test('an event that happens meanwhile answers at once', async () => {
    const api = await shared().newOrganization()
    const { cursor } = await readAll(api, '')
    const waiting = api.get(`/v1/events?wait=50${cursor}`)
    await eventually('it waits', () => shared().app.readers.waiting > 0)
    const { id } = await makeCustomer(api)
    const { data } = (await waiting).json
    expect(data).toMatchObject([{ type: 'customer.created', data: { id } }])
  })

  test('an event of another type does not answer it, nor one of another organization', async () => {
    const api = await shared().newOrganization()
    const waiting = api.get('/v1/events?wait=1&types=ticket.created')
    await makeCustomer(api)
    await makeTicket(await shared().newOrganization())
    const answer = await waiting
    expect(answer.json).toMatchObject({ data: [], pagination: { hasMore: false } })
  })
})

test('waiting readers share a read, go on from it, and are not woken by other types', async () => {
  await using database = await testDatabase()
  const positions: unknown[] = []
  const watched = interposed(database, async (text, values) => {
    if (text.includes('from events e')) positions.push(values[1])
  })
  await using own = await testService({ clock, database: watched })
  const { api, app } = own
  const customer = await makeCustomer(api)
  const patch = async (times: number) => {
    for (let n = 0; n < times; n++)
      await api.patch(`/v1/customers/${customer.id}`, { name: `${clock.now()} ${n}` })
  }
  await patch(10)
  const waiting = Array.from({ length: 20 }, () =>
    api.get('/v1/events?wait=50&types=ticket.created,customer.deleted'),
  )
  await eventually('they wait', () => app.readers.waiting === 20)
  const [beginning] = positions
  positions.length = 0
  await patch(20)
  // The poll, once a second, is all that wakes them.
  expect(positions.length).toBeLessThan(20)
  expect(positions).not.toContain(beginning)
  positions.length = 0
  await api.delete(`/v1/customers/${customer.id}`)
  for (const { json } of await Promise.all(waiting))
    expect(json.data).toMatchObject([{ type: 'customer.deleted' }])
  expect(positions.length).toBeLessThan(5)
  expect(positions).not.toContain(beginning)
})

describe('refusals', () => {
  test('a key reads events of what it may read, and asks for no others', async () => {
    const api = await shared().newOrganization()
    const customer = await makeCustomer(api)
    await makeTicket(api, { customerId: customer.id })
    const reader = await shared().newKey(api.organizationId, ['tickets:read'])
    expect((await readAll(reader, '')).events.map(({ type }) => type)).toEqual(['ticket.created'])
    const refused = await reader.get('/v1/events?types=customer.created')
    expect(refused.json).toMatchObject({ status: 403, code: 'insufficient_scope' })
    const none = await shared().newKey(api.organizationId, ['webhooks:read'])
    expect((await none.get('/v1/events')).json.data).toEqual([])
  })

  test.each([
    ['types=customer.gone', 'invalid_parameter', 'types must be a list of'],
    ['subject=1', 'invalid_parameter', 'subject must be an id'],
    ['wait=soon', 'invalid_parameter', 'wait must be a whole number'],
    ['cursor=abc', 'invalid_cursor', 'nextCursor of GET /v1/events'],
    ['status=1', 'invalid_parameter', 'There is no parameter status'],
  ])('%s', async (query, code, detail) => {
    const answer = await shared().api.get(`/v1/events?${query}`)
    expect(answer.json).toMatchObject({ status: 400, code, detail: expect.stringContaining(detail) })
  })

  test('a cursor of another organization', async () => {
    const { cursor } = await readAll(await shared().newOrganization(), '')
    const other = await shared().newOrganization()
    expect((await other.get(`/v1/events?${cursor.slice(1)}`)).json.code).toBe('invalid_cursor')
  })

  test.each([true, false])(
    'a cursor whose next event was dropped, and no other (with weeks: %s)',
    async (hasWeeks) => {
      await using own = await testService({ clock })
      const { api } = own
      const maintain = () => own.app.maintenance.run()
      const idle = await own.newOrganization()
      const pinged = await makeWebhook(idle)
      if (hasWeeks) await maintain()
      const one = await makeCustomer(api)
      await makeCustomer(idle)
      const seen = await Promise.all([
        readAll(api, ''),
        readAll(api, `&subject=${one.id}`),
        readAll(api, '&types=ticket.created'),
        readAll(idle, ''),
      ])
      clock.advance(second)
      await idle.post(`/v1/webhooks/${pinged.id}/ping`, undefined)
      clock.advance(90 * day)
      await maintain()
      const { rows } = await own.database.pool.query('select 1 from events')
      expect(rows).toEqual([])
      const apis = [api, api, api, idle]
      const read = () =>
        Promise.all(seen.map(({ cursor }, n) => apis[n]!.get(`/v1/events?${cursor.slice(1)}`)))
      expect((await read()).map(({ status, json }) => [status, json.data])).toEqual(Array(4).fill([200, []]))
      const { id } = await makeCustomer(api)
      const after = await read()
      expect(after.map(({ json }) => json.data.map(({ data }: { data: { id: string } }) => data.id))).toEqual(
        [[id], [id], [id], []],
      )
      const next = `cursor=${after[3]!.json.pagination.nextCursor}`
      await makeCustomer(idle)
      clock.advance(90 * day)
      await maintain()
      const cut = await Promise.all([read(), idle.get(`/v1/events?${next}`)])
      for (const { json } of cut.flat()) expect(json).toMatchObject({ status: 410, code: 'cursor_too_old' })
      expect((await idle.get('/v1/events')).json.data).toEqual([])
    },
  )
})
