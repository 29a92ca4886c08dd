/** `wait`: an answer that is held back until there is something to report. */
import { afterEach, expect, test, vi } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

afterEach(() => {
  vi.useRealTimers()
})

/** The cursor of a copy of `plural` that has caught up. */
async function caughtUp(api: Api, plural = 'customers'): Promise<string> {
  const { json } = await api.get(`/v1/${plural}?updatedAfter=1970-01-01T00:00:00Z&limit=100`)
  expect(json.pagination.hasMore).toBe(false)
  return json.pagination.nextCursor
}

const sleeping = (count: number) =>
  eventually(`${count} readers wait`, () => shared().app.readers.waiting === count)

test('answers when a row of the kind changes, and not for another kind or organization', async () => {
  const api = await shared().newOrganization()
  const stranger = await shared().newOrganization()
  const customer = await makeCustomer(api)
  const cursor = await caughtUp(api, 'tickets')
  let answered = false
  const waiting = api.get(`/v1/tickets?cursor=${cursor}&wait=50`).then((answer) => {
    answered = true
    return answer
  })
  await sleeping(1)
  await makeTicket(stranger)
  await api.patch(`/v1/customers/${customer.id}`, { name: 'Grace' })
  // Told of both by now: news of what came later has been heard.
  const later = api.get(`/v1/customers?cursor=${await caughtUp(api)}&wait=50`)
  await sleeping(2)
  await api.patch(`/v1/customers/${customer.id}`, { name: 'Edsger' })
  expect((await later).json.data).toHaveLength(1)
  expect(answered).toBe(false)
  const ticket = await makeTicket(api, { customerId: customer.id })
  const { json } = await waiting
  expect(json.data.map(({ id }: { id: string }) => id)).toEqual([ticket.id])
  expect(json.pagination.checkpoint).toMatchObject({ count: 1 })
})

test('answers at once when there is something, and with an empty page when time is up', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api)
  const first = await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z&wait=50')
  expect(first.json.data.map((row: { id: string }) => row.id)).toEqual([id])
  const cursor = first.json.pagination.nextCursor
  const empty = await api.get(`/v1/customers?cursor=${cursor}&wait=1`)
  expect(empty.status).toBe(200)
  expect(empty.json.data).toEqual([])
  expect(empty.json.pagination).toMatchObject({
    hasMore: false,
    nextCursor: cursor,
    checkpoint: { count: 1 },
  })
})

test('a watermark later than the clock waits from that clock on: what comes meanwhile is given', async () => {
  const api = await shared().newOrganization()
  await makeCustomer(api)
  // As a client says it whose own clock is a minute ahead.
  const ahead = new Date(Date.now() + 60_000).toISOString()
  for (const path of ['/v1/customers', '/v1/changes']) {
    const waiting = api.get(`${path}?updatedAfter=${ahead}&wait=20`)
    await sleeping(1)
    const made = await makeCustomer(api)
    expect((await waiting).json.data).toEqual([made])
  }
})

test('the removals and moves that a deletion brings wake the readers of their kinds', async () => {
  const api = await shared().newOrganization()
  const { id: customerId } = await makeCustomer(api)
  await makeTicket(api, { customerId })
  await api.post('/v1/conversations', { customerId, channel: 'chat' })
  const [tickets, conversations] = await Promise.all(
    ['tickets', 'conversations'].map(async (plural) => {
      const cursor = await caughtUp(api, plural)
      return [api.get(`/v1/${plural}?cursor=${cursor}&wait=50`)] as const
    }),
  )
  await sleeping(2)
  await api.delete(`/v1/customers/${customerId}`)
  expect((await tickets![0]).json.data).toEqual([expect.objectContaining({ object: 'removed' })])
  expect((await conversations![0]).json.data).toEqual([expect.objectContaining({ customerId: null })])
})

test('a commit whose writer never told of it is found by the poll, a second later at most', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  await using service = await testService()
  const { api } = service
  await makeCustomer(api)
  const waiting = api.get(`/v1/customers?cursor=${await caughtUp(api)}&wait=50`)
  await eventually('it waits', () => service.app.readers.waiting === 1)
  // A process of its own that is gone before it can tell: its commits are done by hand here.
  await using silent = await testService({ database: service.database, tells: false })
  const made = await makeCustomer(silent.withToken(api.token))
  expect(service.app.readers.waiting).toBe(1)
  vi.advanceTimersByTime(1_000)
  expect((await waiting).json.data.map(({ id }: { id: string }) => id)).toEqual([made.id])
})

test('a thousand readers wait without a query, and all are answered', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api)
  const cursor = await caughtUp(api)
  const waiting = Array.from({ length: 1_000 }, () => api.get(`/v1/customers?cursor=${cursor}&wait=50`))
  await sleeping(1_000)
  await using held = await lockRow(shared().database, 'customers', { organizationId: api.organizationId, id })
  await held.release()
  await api.patch(`/v1/customers/${id}`, { name: 'Grace' })
  const answers = await Promise.all(waiting)
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers[0]!.json.data).toEqual([expect.objectContaining({ name: 'Grace' })])
})

test('a reader that leaves is waited for no longer, and a stop sends all home', async () => {
  const service = await testService()
  const { api } = service
  const cursor = await caughtUp(api)
  const gone = new AbortController()
  const left = fetch(`${service.url}/v1/customers?cursor=${cursor}&wait=50`, {
    headers: { authorization: `Bearer ${api.token}` },
    signal: gone.signal,
  }).catch((error: Error) => error.name)
  const stays = api.get(`/v1/customers?cursor=${cursor}&wait=50`)
  await eventually('both wait', () => service.app.readers.waiting === 2)
  gone.abort()
  expect(await left).toBe('AbortError')
  await eventually('one waits', () => service.app.readers.waiting === 1)
  await service[Symbol.asyncDispose]()
  expect((await stays).json.data).toEqual([])
})

test.each([
  ['wait=-1', 'wait must be a whole number of seconds from 0 to 50; got "-1".'],
  ['wait=1.5', 'wait must be a whole number of seconds from 0 to 50; got "1.5".'],
  ['wait=', 'wait must be a whole number of seconds from 0 to 50; got "".'],
])('%s is refused', async (parameter, detail) => {
  const api = await shared().newOrganization()
  const { status, json } = await api.get(`/v1/customers?updatedAfter=1970-01-01T00:00:00Z&${parameter}`)
  expect([status, json.code, json.detail]).toEqual([400, 'invalid_parameter', detail])
})

test('without a sync there is nothing to wait for; with changes there, however long one would wait, nobody does', async () => {
  const api = await shared().newOrganization()
  await makeCustomer(api)
  expect((await api.get('/v1/customers?wait=5')).json).toMatchObject({
    status: 400,
    code: 'invalid_parameter',
  })
  const long = await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z&wait=86400')
  expect(long.json.data).toHaveLength(1)
})
