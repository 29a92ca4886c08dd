/** Tools with arguments and answers of every size: a socket buffers 16 KiB, and more is counted, offloaded or sent in pieces. */
import { expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTeammate,
  makeTicket,
} from '../../testbed/desk.ts'
import { makeWebhook } from '../../testbed/hooks.ts'
import { call, eventStream, mcpClient, refusalOf } from '../../testbed/mcp-client.ts'
import type { Api } from '../../testbed/service.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const service = sharedService({ mcp: true })
const kibibyte = 1_024
/** Characters of a text at most. */
const longest = 64_000

async function newDesk() {
  const api = await service().newOrganization()
  return { api, client: await mcpClient(service().url, api.token) }
}

test.each([1, 16, 17, 62, 64, 1_000])(
  'a write with a text of %i KiB is made once, or refused and not made',
  async (size) => {
    const { api, client } = await newDesk()
    const { id: conversationId, customerId } = await makeConversation(api)
    const text = 'x'.repeat(size * kibibyte)
    const [startAt, endAt] = ['2030-05-01T09:00:00.000Z', '2030-05-01T10:00:00.000Z']
    const writes = [
      ['reply', { conversationId, body: text }, 'messages', 'body'],
      ['add_note', { conversationId, body: text }, 'notes', 'body'],
      ['book', { customerId, title: 'x', startAt, endAt, timezone: 'UTC', notes: text }, 'bookings', 'notes'],
    ] as const
    for (const [name, given, kind, field] of writes) {
      const args = { ...given, idempotencyKey: 'k' }
      if (text.length > longest)
        expect(await refusalOf(client, name, args)).toContain(`${longest} characters`)
      else expect(await call(client, name, args)).toEqual(await call(client, name, args))
      const { data } = (await api.get(`/v1/${kind}`)).json
      expect(data.map((row: Record<string, string>) => row[field])).toEqual(
        text.length > longest ? [] : [text],
      )
    }
    await client.close()
  },
)

test.each([1, 16, 17, 64, 1_000])('every read answers with %i KiB', async (size) => {
  const { api, client } = await newDesk()
  const { id: conversationId } = await makeConversation(api)
  const leaving = new AbortController()
  const stream = eventStream(service().url, api.token, { name: 'message.received' }, leaving.signal)
  expect((await stream.next()).value.method).toBe('notifications/events/active')
  const body = 'x'.repeat(Math.min(size, 60) * kibibyte)
  const count = Math.ceil(size / 60)
  const poll = async (cursor: string | null) => {
    const { cursor: next, events } = (await client.request(
      { method: 'events/poll', params: { name: 'message.received', cursor } },
      (await import('zod')).z.looseObject({}),
    )) as unknown as { cursor: string; events: { data: { body: string } }[] }
    return { next, events }
  }
  const { next: begin } = await poll(null)
  for (let n = 0; n < count; n++) await makeMessage(api, { conversationId, body })
  const { messages } = await call(client, 'read_conversation', { conversationId, maxTokens: 20_000 })
  expect(messages[0].body).toBe(body)
  const { changes } = await call(client, 'changes_since', { limit: 100 })
  const bodiesOf = (rows: { object: string; body: string }[]) =>
    rows.filter(({ object }) => object === 'message').map((row) => row.body)
  expect(bodiesOf(changes)).toEqual(Array(count).fill(body))
  expect((await poll(begin)).events.map(({ data }) => data.body)).toEqual(Array(count).fill(body))
  const streamed: string[] = []
  for await (const { method, params } of stream) {
    if (method === 'notifications/events/event') streamed.push(params.data.body)
    if (streamed.length === count) break
  }
  leaving.abort()
  expect(streamed).toEqual(Array(count).fill(body))
  for (let n = 0; n < count; n++)
    await api.post('/v1/notes', { conversationId, body, author: { type: 'ai' } })
  const { found } = await call(client, 'find', { kind: 'notes', limit: 50 })
  expect(found.map((row: { body: string }) => row.body)).toEqual(Array(count).fill(body))
  await client.close()
})

/** One of each object that tools act on, with these fields. */
async function newObjects(api: Api, fields: object) {
  const customer = await makeCustomer(api, { name: 'Ada', ...fields })
  const of = { customerId: customer.id, ...fields }
  const [startAt, endAt] = ['2031-05-01T09:00:00.000Z', '2031-05-01T10:00:00.000Z']
  const ofTeammate = async () => ({ ...of, assigneeId: (await makeTeammate(api)).id, status: 'confirmed' })
  return {
    customerId: customer.id as string,
    escalated: (await makeConversation(api, { ...of, handledBy: 'ai' })).id as string,
    conversationId: (await makeConversation(api, of)).id as string,
    ticketId: (await makeTicket(api, of)).id as string,
    moved: (await makeBooking(api, await ofTeammate())).id as string,
    cancelled: (await makeBooking(api, await ofTeammate())).id as string,
    agreed: { customerId: customer.id, title: 'x', startAt, endAt, timezone: 'UTC' },
    moving: { startAt: '2031-06-01T09:00:00.000Z', endAt: '2031-06-01T10:00:00.000Z' },
    time: { from: '2030-05-01T00:00:00Z', to: '2030-05-31T00:00:00Z' },
  }
}

test.each([1, 16, 17, 64, 1_000])(
  'every tool with an argument of %i KiB does as it says, or refuses and changes nothing',
  async (size) => {
    const { api, client } = await newDesk()
    const text = 'x'.repeat(size * kibibyte)
    const { customerId, escalated, conversationId, ticketId, moved, cancelled, agreed, moving, time } =
      await newObjects(api, {})
    const { id: endpointId } = await makeWebhook(api)
    const named = { idempotencyKey: text }
    const calls: Readonly<Record<string, object>> = {
      find: { kind: 'tickets', q: text },
      read_conversation: { conversationId, cursor: text },
      open_ticket: { customerId, subject: 'x', description: text },
      change_ticket: { ticketId, description: text },
      reply: { conversationId, body: text },
      add_note: { conversationId, body: text },
      hand_to_human: { conversationId: escalated, ...named },
      resolve: { conversationId, ...named },
      summarize: { conversationId, summary: text },
      find_slot: { ...time, assigneeId: text },
      book: { ...agreed, notes: text },
      move_booking: { bookingId: moved, ...moving, ...named },
      cancel_booking: { bookingId: cancelled, by: 'customer', reason: text },
      changes_since: { cursor: text },
      delivery_problems: { endpointId: text },
      replay_missed_events: { endpointId, ...named },
    }
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(calls).sort())
    const stream = async () => (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=100')).text
    const taken: string[] = []
    for (const [name, args] of Object.entries(calls)) {
      const before = await stream()
      const { isError, structuredContent } = await client.callTool({ name, arguments: { ...args } })
      const isMade = (await stream()) !== before
      expect([name, isMade]).toEqual([name, isError !== true])
      if (isMade) taken.push(name)
      if (isMade) expect(JSON.stringify(structuredContent)).toContain(text)
    }
    const written = ['reply', 'add_note', 'book']
    for (const name of written) expect([name, taken.includes(name)]).toEqual([name, text.length <= longest])
    await client.close()
  },
)

test.each([1, 16, 17, 64, 1_000])(
  'every tool answers with %i KiB, or with all that there is',
  async (size) => {
    const { api, client } = await newDesk()
    /** So many bytes in strings, as far as an object may have them. */
    const strings = (most: number) => {
      const names = Array.from(
        { length: Math.min(most, Math.ceil((size * kibibyte) / 500)) },
        (_, n) => `n${n}`,
      )
      return Object.fromEntries(names.map((name) => [name, 'x'.repeat(500)]))
    }
    const customAttributes = strings(50)
    const { customerId, escalated, conversationId, ticketId, moved, cancelled, agreed, moving, time } =
      await newObjects(api, { customAttributes })
    const body = 'x'.repeat(Math.min(size * kibibyte, longest))
    await makeMessage(api, { conversationId, body })
    for (let n = 0; n < size / 24; n++) await makeCustomer(api, { name: `${n}`, customAttributes })
    const metadata = strings(20)
    const { id: endpointId } = await makeWebhook(api, { metadata })
    for (let n = 0; n < Math.min(size / 10, 49); n++) {
      const { id } = await makeWebhook(api, { metadata })
      await api.patch(`/v1/webhooks/${id}`, { status: 'disabled' })
    }
    /** Arguments, and KiB that the answer can have. */
    const calls: readonly (readonly [string, object, number])[] = [
      ['find', { kind: 'customers', limit: 100 }, size],
      ['read_conversation', { conversationId, maxTokens: 20_000 }, 62],
      ['open_ticket', { customerId, subject: 'x', customAttributes }, 24],
      ['change_ticket', { ticketId, subject: 'y' }, 24],
      ['reply', { conversationId, body }, 62],
      ['add_note', { conversationId, body }, 62],
      ['hand_to_human', { conversationId: escalated }, 24],
      ['resolve', { conversationId }, 24],
      ['summarize', { conversationId, summary: 'x' }, 24],
      ['find_slot', { ...time, limit: 100 }, 5],
      ['book', { ...agreed, customAttributes }, 24],
      ['move_booking', { bookingId: moved, ...moving }, 24],
      ['cancel_booking', { bookingId: cancelled, by: 'customer' }, 24],
      ['changes_since', { limit: 100 }, size],
      ['delivery_problems', {}, 480],
      ['replay_missed_events', { endpointId, since: new Date(Date.now() - 60_000).toISOString() }, 9],
    ]
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(calls.map(([name]) => name).sort())
    for (const [name, args, most] of calls) {
      const answer = JSON.stringify(await call(client, name, { ...args }))
      expect([name, answer.length >= Math.min(size, most) * kibibyte]).toEqual([name, true])
    }
    await client.close()
  },
)

test('reads of many small rows answer, too', async () => {
  const { api, client } = await newDesk()
  const { id: conversationId } = await makeConversation(api)
  for (let n = 0; n < 40; n++) await makeMessage(api, { conversationId, body: 'x'.repeat(250) })
  for (let n = 0; n < 50; n++) await makeCustomer(api, { name: `${n} ${'y'.repeat(100)}` })
  expect((await call(client, 'read_conversation', { conversationId })).messages).toHaveLength(40)
  expect((await call(client, 'find', { kind: 'customers', limit: 50 })).found).toHaveLength(50)
  const { id: assigneeId } = await makeTeammate(api)
  const slots = await call(client, 'find_slot', {
    from: '2030-05-01T00:00:00Z',
    to: '2030-05-31T00:00:00Z',
    limit: 100,
    assigneeId,
  })
  expect(slots.slots).toHaveLength(100)
  await client.close()
})
