/** Deleting conversations, messages, bookings and teammates: what goes along, and what only loses the reference. */
import { beforeEach, expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { testClock } from '../../../testbed/clock.ts'
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
import { makeWebhook } from '../../../testbed/hooks.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService({ clock: testClock() })
let api: Api

beforeEach(async () => {
  api = await shared().newOrganization()
})

const kinds = ['customers', 'conversations', 'messages', 'notes', 'tickets', 'bookings', 'teammates'] as const

/** The stored text of a read, apart from its stamp. */
async function bodyOf(path: string): Promise<string> {
  const { text, json } = await api.get(path)
  return text.replace(json.updatedAt, 'STAMP')
}

async function eventsSince(count: number): Promise<string[]> {
  return (await storedEvents(shared(), api.organizationId)).slice(count).map(({ type }) => type)
}

async function remove(path: string): Promise<void> {
  expect((await api.delete(path)).status).toBe(204)
  expect((await api.get(path)).status).toBe(404)
  expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
}

test('a conversation takes its messages and notes along, and its tickets and bookings stay without it', async () => {
  const followers = kinds.map((kind) =>
    follow(httpReader({ url: () => shared().url, token: api.token, kind, limit: 2 })),
  )
  const conversation = await makeConversation(api)
  const said = { conversationId: conversation.id }
  const on = { ...said, customerId: conversation.customerId }
  // Looks like the member that is cleared.
  const tricky = { customAttributes: { conversationId: conversation.id } }
  const messages = [await makeMessage(api, said), await makeMessage(api, said)]
  const note = await makeNote(api, said)
  const ticket = await makeTicket(api, { ...on, ...tricky, subject: `"conversationId":"${conversation.id}"` })
  const booking = await makeBooking(api, { ...on, ...tricky })
  const kept = await makeMessage(api)
  for (const follower of followers) await follower.drain()
  const paths = [`/v1/tickets/${ticket.id}`, `/v1/bookings/${booking.id}`, `/v1/messages/${kept.id}`]
  const before = await Promise.all(paths.map(bodyOf))
  const count = (await storedEvents(shared(), api.organizationId)).length
  await remove(`/v1/conversations/${conversation.id}`)
  for (const { id } of messages) expect((await api.get(`/v1/messages/${id}`)).status).toBe(404)
  expect((await api.get(`/v1/notes/${note.id}`)).status).toBe(404)
  const cleared = (body: string | undefined) =>
    body?.replace(`"conversationId":"${conversation.id}"`, '"conversationId":null')
  expect(await Promise.all(paths.map(bodyOf))).toEqual([cleared(before[0]), cleared(before[1]), before[2]])
  expect((await eventsSince(count)).sort()).toEqual([
    'conversation.deleted',
    'message.deleted',
    'message.deleted',
    'note.deleted',
  ])
  for (const follower of followers) {
    await follower.drain()
    expect(follower.faults).toEqual([])
  }
})

test('a teammate is taken from what was assigned and from the author of messages, whose name stays', async () => {
  const teammate = await makeTeammate(api)
  const other = await makeTeammate(api)
  const to = { assigneeId: teammate.id, customAttributes: { assigneeId: teammate.id } }
  const conversation = await makeConversation(api, { ...to, subject: `"assigneeId":"${teammate.id}"` })
  const author = { type: 'teammate', id: teammate.id, name: 'Grace' }
  const message = await makeMessage(api, {
    conversationId: conversation.id,
    direction: 'outbound',
    author,
    body: `,"id":"${teammate.id}"`,
  })
  const ticket = await makeTicket(api, to)
  const booking = await makeBooking(api, to)
  const others = await makeTicket(api, { assigneeId: other.id })
  const of = { conversations: conversation, tickets: ticket, bookings: booking } as const
  const paths = Object.entries(of).map(([kind, { id }]) => `/v1/${kind}/${id}`)
  const written = `/v1/messages/${message.id}`
  const before = await Promise.all([...paths, written, `/v1/tickets/${others.id}`].map(bodyOf))
  const count = (await storedEvents(shared(), api.organizationId)).length
  await remove(`/v1/teammates/${teammate.id}`)
  const after = await Promise.all([...paths, written, `/v1/tickets/${others.id}`].map(bodyOf))
  expect(after).toEqual([
    ...before.slice(0, 3).map((body) => body.replace(`"assigneeId":"${teammate.id}"`, '"assigneeId":null')),
    before[3]?.replace(`,"id":"${teammate.id}"`, ''),
    before[4],
  ])
  expect((await api.get(written)).json.author).toEqual({ type: 'teammate', name: 'Grace' })
  expect(await eventsSince(count)).toEqual(['teammate.deleted'])
})

test('a message takes along the summary that may repeat it, in its commit, and leaves the rest', async () => {
  const conversation = await makeConversation(api)
  const path = `/v1/conversations/${conversation.id}`
  const on = { conversationId: conversation.id }
  const [gone, kept] = [await makeMessage(api, on), await makeMessage(api, on)]
  await api.post(`${path}/resolve`, {})
  const { json: before } = await api.post(`${path}/summarize`, { summary: 'Hello' })
  // Others change the conversation meanwhile: the deletion is decided again.
  const changes = Array.from({ length: 8 }, (_, n) => api.patch(path, { subject: `Subject ${n}` }))
  const removed = api.delete(`/v1/messages/${gone.id}`)
  for (const { status } of await Promise.all(changes)) expect(status).toBe(200)
  expect((await removed).status).toBe(204)
  expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
  const after = (await api.get(path)).json
  const { subject, updatedAt } = after
  expect(after).toEqual({ ...before, subject, updatedAt, summary: null, summarizedAt: null })
  expect((await api.get(`/v1/messages/${kept.id}`)).status).toBe(200)
})

test('a removal keeps its precondition, and a booking is removed alone', async () => {
  const booking = await makeBooking(api)
  const path = `/v1/bookings/${booking.id}`
  expect((await api.delete(path, { 'if-match': '"2020-01-01T00:00:00.000Z"' })).status).toBe(412)
  await remove(path)
  expect((await api.get(`/v1/customers/${booking.customerId}`)).status).toBe(200)
})

test('what is stored about objects that stay loses the reference too, wherever it is in the body', async () => {
  const teammate = await makeTeammate(api)
  await makeWebhook(api, { events: ['conversation.created', 'message.sent'] })
  const key = { 'idempotency-key': 'kept' }
  const { id: customerId } = await makeCustomer(api)
  const body = { customerId, channel: 'chat', assigneeId: teammate.id }
  const first = await api.post('/v1/conversations', body, key)
  const author = { type: 'teammate', id: teammate.id, name: 'Grace' }
  await makeMessage(api, { conversationId: first.json.id, direction: 'outbound', author })
  // It names the teammate, and is not assigned: that stays as it was.
  const named = await makeConversation(api, { customAttributes: { assigneeId: teammate.id } })
  await remove(`/v1/teammates/${teammate.id}`)
  await shared().app.maintenance.run()
  const stored = await storedEvents(shared(), api.organizationId)
  const holding = stored.filter(({ body }) => body?.includes(teammate.id))
  expect(holding.map(({ type, subjectId }) => [type, subjectId])).toEqual([
    ['conversation.created', named.id],
    ['teammate.deleted', teammate.id],
  ])
  const again = await api.post('/v1/conversations', body, key)
  expect(again.text).toBe(first.text.replace(`"assigneeId":"${teammate.id}"`, '"assigneeId":null'))
})

test('nothing refers to what is being deleted meanwhile', async () => {
  const conversation = await makeConversation(api)
  const teammate = await makeTeammate(api)
  const on = { conversationId: conversation.id }
  const writes = Array.from({ length: 20 }, (_, n) =>
    n % 2 === 0
      ? api.post('/v1/messages', { ...on, direction: 'inbound', author: { type: 'customer' }, body: 'Hi' })
      : api.post('/v1/tickets', {
          ...on,
          customerId: conversation.customerId,
          subject: 's',
          assigneeId: teammate.id,
        }),
  )
  const removals = [`/v1/conversations/${conversation.id}`, `/v1/teammates/${teammate.id}`].map((path) =>
    api.delete(path),
  )
  for (const { status } of await Promise.all(writes)) expect([201, 422]).toContain(status)
  for (const { status } of await Promise.all(removals)) expect(status).toBe(204)
  expect((await api.get('/v1/messages')).json.data).toEqual([])
  for (const { conversationId, assigneeId } of (await api.get('/v1/tickets')).json.data)
    expect([conversationId, assigneeId]).toEqual([null, null])
  expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
})
