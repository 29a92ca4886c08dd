/** Deleting a customer, in one commit: tickets go, conversations, messages and bookings stay without it. */
import { describe, expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { testClock } from '../../../testbed/clock.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { follow } from '../../../testbed/follower.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { type Answer, type Api, type TestService, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const clock = testClock()
const shared = sharedService({ clock })
const detached = ['conversations', 'messages', 'notes', 'bookings'] as const
const streamed = [...detached, 'customers', 'tickets', 'teammates'] as const

/** Text that tries to look like the end of a representation. */
const tricky = '","customerId":"01980000-0000-7000-8000-000000000000","updatedAt":"2026-01-31T09:30:00.000Z"}'

async function household(api: Api) {
  const customer = await makeCustomer(api)
  const of = { customerId: customer.id }
  const teammate = await makeTeammate(api)
  const common = {
    tags: ['a'],
    customAttributes: { customerId: customer.id, tricky },
    externalId: `${tricky}${customer.id}`,
  }
  const conversation = await makeConversation(api, { ...of, ...common, subject: tricky })
  const on = { conversationId: conversation.id }
  const message = await makeMessage(api, { ...on, body: tricky })
  const reply = await makeMessage(api, {
    ...on,
    direction: 'outbound',
    author: { type: 'teammate', id: teammate.id },
  })
  const note = await makeNote(api, { ...on, body: tricky })
  const booking = await makeBooking(api, { ...of, ...on, ...common, notes: tricky, assigneeId: teammate.id })
  const tickets = [await makeTicket(api, { ...of, ...on }), await makeTicket(api, of)]
  const kept = [
    `/v1/conversations/${conversation.id}`,
    `/v1/messages/${message.id}`,
    `/v1/messages/${reply.id}`,
    `/v1/notes/${note.id}`,
    `/v1/bookings/${booking.id}`,
  ]
  return { customer, kept, tickets }
}

async function everything(api: Api): Promise<string[]> {
  const bodies: string[] = []
  for (const plural of streamed) {
    const { json } = await api.get(`/v1/${plural}?limit=100`)
    bodies.push(...json.data.map((row: object) => JSON.stringify(row)))
  }
  return bodies
}

const anId = /"[a-zA-Z]*[iI]d":"([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22})"/g

/** Ids in fields that refer, of which there is no object. */
async function dangling(api: Api): Promise<string[]> {
  const bodies = (await everything(api)).map((body) =>
    // What clients keep for themselves may say anything.
    JSON.stringify({ ...JSON.parse(body), externalId: null, customAttributes: null }),
  )
  const known = new Set([api.organizationId, ...bodies.map((body) => JSON.parse(body).id)])
  return bodies.flatMap((body) => [...body.matchAll(anId)].flatMap(([, id]) => (known.has(id!) ? [] : [id!])))
}

describe('what is left', () => {
  test('has no customer, one stamp, and is otherwise the same to the byte', async () => {
    const api = await shared().newOrganization()
    const { customer, kept, tickets } = await household(api)
    const bystander = await household(api)
    const before = new Map<string, Answer>()
    for (const path of [...kept, ...bystander.kept]) before.set(path, await api.get(path))
    const eventsBefore = (await storedEvents(shared(), api.organizationId)).length
    clock.advance(60_000)
    expect((await api.delete(`/v1/customers/${customer.id}`)).status).toBe(204)

    const stamps = new Set<string>()
    for (const path of kept) {
      const [was, is] = [before.get(path)!, await api.get(path)]
      const end = `"customerId":"${customer.id}","updatedAt":"${was.json.updatedAt}"}`
      expect(was.text.endsWith(end)).toBe(true)
      expect(is.text).toBe(
        `${was.text.slice(0, -end.length)}"customerId":null,"updatedAt":"${is.json.updatedAt}"}`,
      )
      expect(is.headers.get('etag')).not.toBe(was.headers.get('etag'))
      stamps.add(is.json.updatedAt)
    }
    for (const path of bystander.kept) expect((await api.get(path)).text).toBe(before.get(path)!.text)
    expect(stamps.size).toBe(1)
    for (const { id } of tickets) expect((await api.get(`/v1/tickets/${id}`)).status).toBe(404)
    const told = (await storedEvents(shared(), api.organizationId)).slice(eventsBefore)
    expect(told.map(({ type }) => type).sort()).toEqual([
      'customer.deleted',
      'ticket.deleted',
      'ticket.deleted',
    ])
    for (const { createdAt } of told) expect([...stamps]).toEqual([createdAt])
    expect(await dangling(api)).toEqual([])
    expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
  })

  test('shows in the sync of whoever followed, and their copies are proven', async () => {
    const api = await shared().newOrganization()
    const followers = streamed.map((kind) => ({
      kind,
      follower: follow(httpReader({ url: () => shared().url, token: api.token, kind, limit: 2 })),
    }))
    const { customer, kept } = await household(api)
    for (const { follower } of followers) await follower.drain()
    const seen = new Map(followers.map(({ kind, follower }) => [kind, follower.seen.length]))
    await api.delete(`/v1/customers/${customer.id}`)
    for (const { kind, follower } of followers) {
      await follower.drain()
      expect(follower.faults).toEqual([])
      const notification = follower.seen.slice(seen.get(kind))
      if (kind === 'tickets' || kind === 'customers')
        expect(notification.every(({ removed }) => removed)).toBe(true)
      else {
        const paths = notification.map(({ id }) => `/v1/${kind}/${id}`)
        expect(paths.sort()).toEqual(kept.filter((path) => path.includes(kind)).sort())
        for (const { body } of notification) expect(JSON.parse(body).customerId).toBeNull()
      }
    }
  })

  test('is no longer found by that customer, and goes on living', async () => {
    const api = await shared().newOrganization()
    const { customer, kept } = await household(api)
    await api.delete(`/v1/customers/${customer.id}`)
    const [conversation] = kept as [string]
    const booking = String(kept.at(-1))
    for (const plural of ['conversations', 'bookings', 'tickets']) {
      const found = await api.get(`/v1/${plural}?customerId=${customer.id}`)
      expect(found.json).toMatchObject({ data: [], pagination: { total: 0 } })
    }
    expect((await api.get('/v1/conversations?q=customerid')).json.pagination.total).toBe(1)
    expect((await api.patch(conversation, { subject: 'Still here' })).json).toMatchObject({
      subject: 'Still here',
      customerId: null,
    })
    expect((await api.post(`${conversation}/resolve`, undefined)).json.customerId).toBeNull()
    const message = await makeMessage(api, { conversationId: conversation.split('/').at(-1) })
    expect(message.customerId).toBeNull()
    expect((await api.post(`${booking}/confirm`, undefined)).json).toMatchObject({
      status: 'confirmed',
      customerId: null,
    })
    const other = await makeCustomer(api, { name: 'Bob' })
    expect((await api.patch(booking, { customerId: other.id })).json.customerId).toBe(other.id)
    await api.delete(`/v1/customers/${other.id}`)
    expect((await api.get(booking)).json.customerId).toBeNull()
    expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
  })
})

test('whatever else happens to what refers to it, through several services, nothing refers to it after', async () => {
  await using database = await testDatabase()
  await using stack = new AsyncDisposableStack()
  const services: TestService[] = []
  for (let n = 0; n < 3; n++) services.push(stack.use(await another(database)))
  const api = services[0]!.api
  const apis = services.map((service) => service.withToken(api.token))
  const tally = new Map<string, number>()
  for (let round = 0; round < 8; round++) {
    const { customer, kept, tickets } = await household(api)
    const [conversation, , , booking] = kept as [string, string, string, string]
    const conversationId = conversation.split('/').at(-1)
    const elsewhere = await makeBooking(api)
    const of = { customerId: customer.id }
    const times = { startAt: '2026-05-01T09:00:00Z', endAt: '2026-05-01T10:00:00Z' }
    const writes: ((api: Api) => Promise<Answer>)[] = [
      (one) => one.post('/v1/conversations', { ...of, channel: 'chat' }),
      (one) => one.post('/v1/bookings', { ...of, title: 't', timezone: 'UTC', ...times }),
      (one) => one.post('/v1/tickets', { ...of, subject: 's', conversationId }),
      (one) =>
        one.post('/v1/messages', {
          conversationId,
          direction: 'inbound',
          author: { type: 'customer' },
          body: 'b',
        }),
      (one) => one.patch(conversation, { subject: `round ${round}` }),
      (one) => one.post(`${conversation}/resolve`, undefined),
      (one) => one.patch(booking, { notes: `round ${round}` }),
      (one) => one.post(`${booking}/reschedule`, times),
      (one) => one.patch(`/v1/bookings/${elsewhere.id}`, of),
      (one) => one.patch(`/v1/tickets/${tickets[0]!.id}`, { status: 'open' }),
      (one) => one.delete(`/v1/tickets/${tickets[1]!.id}`),
      (one) => one.delete(`/v1/customers/${customer.id}`),
    ]
    // Another order each time, so that the deletion meets each of them on either side.
    const turned = writes.map((_, n) => writes[(n * 5 + round) % writes.length]!)
    const answers = await Promise.all(turned.map((write, n) => write(apis[n % 3]!)))
    for (const { status, json } of answers) {
      const outcome = `${status} ${json?.code ?? ''}`.trim()
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
    }
    expect((await api.get(`/v1/customers/${customer.id}`)).status).toBe(404)
  }
  const expected = ['200', '201', '204', '404 not_found', '422 validation_failed']
  expect([...tally.keys()].filter((outcome) => !expected.includes(outcome))).toEqual([])
  expect(await audit(database.pool, api.organizationId)).toEqual([])
  expect(await dangling(api)).toEqual([])
})

const another = (database: TestDatabase) => testService({ database, clock })
