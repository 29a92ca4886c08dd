/** Erasing and exporting one person: scopes, receipts, repetitions. */
import { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()
let api: Api

beforeEach(async () => {
  api = await shared().newOrganization()
})

async function person() {
  const { id: customerId } = await makeCustomer(api, { name: 'Ada' })
  const conversation = await makeConversation(api, { customerId })
  const messages = [
    await makeMessage(api, { conversationId: conversation.id }),
    await makeMessage(api, { conversationId: conversation.id }),
  ]
  const note = await makeNote(api, { conversationId: conversation.id })
  const ticket = await makeTicket(api, { customerId, conversationId: conversation.id })
  const booking = await makeBooking(api, { customerId, conversationId: conversation.id })
  return { customerId, conversation, messages, note, ticket, booking }
}

test('the receipt counts what went, at the stamp of its removal records, with the checkpoints of that moment', async () => {
  const { customerId } = await person()
  const others = await person()
  const before = (await storedEvents(shared(), api.organizationId)).length
  const { status, json } = await api.post(`/v1/customers/${customerId}/erase`, undefined)
  expect(status).toBe(200)
  const { pagination, data } = (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=100')).json
  const { teammate: _, ...checkpoint } = pagination.checkpoint
  expect(json).toEqual({
    object: 'erasure',
    resource: 'customer',
    id: customerId,
    erasedAt: expect.any(String),
    removed: { customer: 1, conversation: 1, message: 2, note: 1, ticket: 1, booking: 1 },
    checkpoint,
  })
  expect(data.map(({ id }: { id: string }) => id).sort()).toEqual(
    [
      others.customerId,
      others.conversation.id,
      ...others.messages.map(({ id }) => id),
      others.note.id,
      others.ticket.id,
      others.booking.id,
    ].sort(),
  )
  const events = (await storedEvents(shared(), api.organizationId)).slice(before)
  expect(events.map(({ type }) => type).sort()).toEqual([
    'booking.deleted',
    'conversation.deleted',
    'customer.deleted',
    'message.deleted',
    'message.deleted',
    'note.deleted',
    'ticket.deleted',
  ])
  expect(new Set(events.map(({ createdAt }) => createdAt))).toEqual(new Set([json.erasedAt]))
})

test('it is repeated with its Idempotency-Key, also after maintenance, and is 404 without', async () => {
  const { customerId } = await person()
  const path = `/v1/customers/${customerId}/erase`
  const key = { 'idempotency-key': 'once' }
  const both = await Promise.all([api.post(path, undefined, key), api.post(path, undefined, key)])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(both[0]?.text).toBe(both[1]?.text)
  await shared().app.maintenance.run()
  const again = await api.post(path, undefined, key)
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([both[0]?.text, 'true'])
  expect((await api.post(path, undefined)).json.code).toBe('not_found')
  expect((await api.post('/v1/customers/nobody/erase', undefined)).status).toBe(404)
})

test('what has committed is answered with what is not erased yet; its repetition at another process erases that', async () => {
  await using database = await testDatabase()
  const impatient = new Pool({ ...database.connection, options: '-c lock_timeout=250' })
  try {
    await using service = await testService({ database: { ...database, pool: impatient } })
    const { api } = service
    const { id } = await makeCustomer(api)
    const { rows } = await database.pool.query<{ id: string }>('select e.id from events e')
    const path = `/v1/customers/${id}/erase`
    const key = { 'idempotency-key': 'once' }
    const lock = await lockRow(database, 'events', { organizationId: api.organizationId, id: rows[0]!.id })
    const late = await api.post(path, undefined, key)
    expect([late.status, late.json.remaining]).toEqual([200, ['payloads']])
    expect((await api.post(path, undefined, key)).text).toBe(late.text)
    await lock.release()
    await using other = await testService({ database })
    const headers = { authorization: `Bearer ${api.token}`, ...key }
    const { remaining: _, ...receipt } = late.json
    expect(await (await fetch(`${other.url}${path}`, { method: 'POST', headers })).json()).toEqual(receipt)
    const bodies = (await storedEvents(service, api.organizationId)).map(({ type, body }) => [
      type,
      body === null,
    ])
    expect(bodies).toEqual([
      ['customer.created', true],
      ['customer.deleted', false],
    ])
  } finally {
    await impatient.end()
  }
})

test('it needs a scope of its own, which no other scope includes', async () => {
  const { customerId } = await person()
  const writer = await shared().newKey(api.organizationId, ['customers:write', 'customers:read'])
  const refused = await writer.post(`/v1/customers/${customerId}/erase`, undefined)
  expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
  expect(refused.json.detail).toContain('customers:erase')
  const eraser = await shared().newKey(api.organizationId, ['customers:erase'])
  expect((await eraser.get(`/v1/customers/${customerId}`)).status).toBe(403)
  expect((await eraser.post(`/v1/customers/${customerId}/erase`, undefined)).status).toBe(200)
})

test('a customer without anything is erased alone, and a plain deletion still leaves the rest', async () => {
  const { id } = await makeCustomer(api)
  const { json } = await api.post(`/v1/customers/${id}/erase`, undefined)
  expect(json.removed).toEqual({ customer: 1, conversation: 0, message: 0, note: 0, ticket: 0, booking: 0 })
  const { customerId, conversation } = await person()
  expect((await api.delete(`/v1/customers/${customerId}`)).status).toBe(204)
  expect((await api.get(`/v1/conversations/${conversation.id}`)).json.customerId).toBeNull()
})

test('what others have of it stays, without the reference, by the same commit', async () => {
  const { customerId, conversation } = await person()
  const other = (await makeCustomer(api)).id
  const references = { customerId: other, conversationId: conversation.id }
  const ticket = await makeTicket(api, references)
  const booking = await makeBooking(api, references)
  const { json } = await api.post(`/v1/customers/${customerId}/erase`, undefined)
  expect(json.removed).toMatchObject({ ticket: 1, booking: 1 })
  for (const path of [`/v1/tickets/${ticket.id}`, `/v1/bookings/${booking.id}`])
    expect((await api.get(path)).json).toMatchObject({
      customerId: other,
      conversationId: null,
      updatedAt: json.erasedAt,
    })
})

test('an export holds everything about one person, as GET answers it, and nobody else', async () => {
  await person()
  const { customerId, conversation, note, ticket, booking } = await person()
  for (let n = 0; n < 450; n += 150) {
    const said = { conversationId: conversation.id, direction: 'inbound', author: { type: 'customer' } }
    const items = Array.from({ length: 150 }, (_, k) => ({ ...said, body: `Line ${n + k}` }))
    expect((await api.post('/v1/messages/batch', { items })).status).toBe(200)
  }
  const { status, text, json } = await api.get(`/v1/customers/${customerId}/export`)
  expect(status).toBe(200)
  const read = async (path: string) => (await api.get(path)).text
  expect(
    text.startsWith(`{"object":"customer_export","customer":${await read(`/v1/customers/${customerId}`)}`),
  ).toBe(true)
  expect(text).toContain(`"notes":[${await read(`/v1/notes/${note.id}`)}]`)
  expect(text).toContain(`"tickets":[${await read(`/v1/tickets/${ticket.id}`)}]`)
  expect(text).toContain(`"bookings":[${await read(`/v1/bookings/${booking.id}`)}]`)
  expect(json.conversations).toHaveLength(1)
  expect(new Set(json.messages.map(({ id }: { id: string }) => id)).size).toBe(452)
  expect(json.messages.every((one: { customerId: string }) => one.customerId === customerId)).toBe(true)
  expect((await api.get('/v1/customers/nobody/export')).status).toBe(404)
})

test('an export needs the read scope of all that it holds', async () => {
  const { customerId } = await person()
  const read = ['customers', 'conversations', 'messages', 'tickets', 'bookings'].map(
    (plural) => `${plural}:read`,
  )
  const reader = await shared().newKey(api.organizationId, read)
  const refused = await reader.get(`/v1/customers/${customerId}/export`)
  expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
  expect(refused.json.detail).toContain('notes:read')
  const all = await shared().newKey(api.organizationId, [...read, 'notes:read'])
  expect((await all.get(`/v1/customers/${customerId}/export`)).status).toBe(200)
  await makeTeammate(api)
})
