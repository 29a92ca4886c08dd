/** What is left of a deleted customer a day later: its id where the documents say so, and nowhere else. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTicket,
} from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { dataOf, day, deliveriesOf, hour, makeWebhook, retry } from '../../../testbed/hooks.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { tablesOf } from '../../src/backup/tables.ts'

const post = async (api: Api, path: string, body: unknown, key: string) => {
  const answer = await api.post(path, body, { 'idempotency-key': key })
  expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text])
  return answer
}

/** A customer with everything that can refer to it, every answer kept and every event stored. */
async function household(api: Api) {
  const customer = (await post(api, '/v1/customers', { name: 'Ada' }, 'customer')).json
  const of = { customerId: customer.id }
  const conversation = (
    await post(api, '/v1/conversations', { ...of, channel: 'chat', handledBy: 'ai' }, 'conversation')
  ).json
  const on = { conversationId: conversation.id }
  const message = { direction: 'inbound', author: { type: 'customer' }, body: 'Hello' }
  await post(api, '/v1/messages', { ...on, ...message }, 'message')
  await post(api, '/v1/messages/batch', { items: [{ ...on, ...message }] }, 'messages')
  await post(api, '/v1/notes', { ...on, author: { type: 'ai' }, body: 'Careful' }, 'note')
  await post(api, '/v1/tickets', { ...of, ...on, subject: 'Help' }, 'ticket')
  await post(api, `/v1/conversations/${conversation.id}/escalate`, undefined, 'escalate')
  await post(api, `/v1/conversations/${conversation.id}/resolve`, undefined, 'resolve')
  await post(api, `/v1/conversations/${conversation.id}/summarize`, { summary: 'Short' }, 'summarize')
  const { id } = await makeBooking(api, of)
  await post(api, `/v1/bookings/${id}/confirm`, undefined, 'confirm')
  await post(api, `/v1/bookings/${id}/cancel`, { by: 'customer' }, 'cancel')
  return customer
}

/** All rows of all tables that hold the text, as PostgreSQL writes them. */
async function rowsWith({ database }: TestService, text: string): Promise<{ table: string; row: string }[]> {
  const found: { table: string; row: string }[] = []
  for (const { name } of await tablesOf(database.pool)) {
    const { rows } = await database.pool.query<{ row: string }>(
      `select t::text as row from ${name} t where t::text like $1`,
      [`%${text}%`],
    )
    found.push(...rows.map(({ row }) => ({ table: name, row })))
  }
  return found
}

test('a day after its deletion, a customer’s id stands in removal records and their events, and in no body', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const events = ['customer.created', 'customer.deleted', 'conversation.resolved', 'message.received']
  await makeWebhook(api, { events: [...events, 'booking.created'] })
  const { engine } = testEngine(service, clock)
  const { id } = await household(api)
  await engine.runDue()
  const tables = async () => {
    const counts = Map.groupBy(await rowsWith(service, id), ({ table }) => table)
    return Object.fromEntries([...counts].map(([table, rows]) => [table, rows.length]))
  }
  const all = ['bookings', 'conversations', 'messages', 'notes', 'tickets', 'customers', 'customers_words']
  expect(Object.keys(await tables()).sort()).toEqual(
    [...all, 'deliveries', 'events', 'idempotency_keys'].sort(),
  )
  expect((await api.delete(`/v1/customers/${id}`)).status).toBe(204)
  await engine.runDue()
  clock.advance(day)
  await service.app.maintenance.run()

  // The removal record; and in the log, whose rows hold no body, what was told of the customer itself.
  expect(await tables()).toEqual({ customers: 1, events: 2, deliveries: 2 })
  const stored = await storedEvents(service, api.organizationId)
  const telling = stored.filter(({ body, subjectId }) => subjectId === id || body?.includes(id))
  expect(telling.map(({ type, body }) => [type, body === null])).toEqual([
    ['customer.created', true],
    ['customer.deleted', false],
  ])
})

/** Text that tries to look like the end of a representation. */
const tricky = (id: string) => `","customerId":"${id}","updatedAt":"2026-01-31T09:30:00.000Z"}`

test('of what is kept about objects that stay, the reference alone goes, whatever their texts look like', async () => {
  await using service = await testService()
  const { api } = service
  const customer = await makeCustomer(api)
  const other = await makeCustomer(api)
  const texts = {
    externalId: tricky(customer.id),
    customAttributes: { customerId: customer.id, tricky: tricky(customer.id) },
  }
  const conversation = await makeConversation(api, {
    customerId: customer.id,
    subject: tricky(customer.id),
    ...texts,
  })
  await makeMessage(api, { conversationId: conversation.id, body: tricky(customer.id) })
  await makeBooking(api, { customerId: customer.id, notes: tricky(customer.id), ...texts })
  // Of another customer, and so not to be touched, though its text speaks of the first.
  await makeConversation(api, { customerId: other.id, subject: tricky(customer.id) })
  const kept = { customerId: customer.id, channel: 'sms', subject: tricky(customer.id) }
  const first = await post(api, '/v1/conversations', kept, 'kept')
  const before = await storedEvents(service, api.organizationId)
  await api.delete(`/v1/customers/${customer.id}`)
  const referring = `"customerId":"${customer.id}","updatedAt":"`.length + '2026-01-31T09:30:00.000Z"}'.length
  const without = (body: string) =>
    body.slice(-referring).startsWith(`"customerId":"${customer.id}",`)
      ? JSON.stringify({ ...JSON.parse(body), customerId: null })
      : body
  const expected = before
    .filter(({ subjectId }) => subjectId !== customer.id)
    .map((event) => ({ ...event, body: without(event.body as string) }))
  expect(expected.filter((event, n) => event.body !== before[n]?.body).length).toBeGreaterThanOrEqual(4)

  for (let n = 0; n < 2; n++) {
    await service.app.maintenance.run()
    const after = await storedEvents(service, api.organizationId)
    expect(after.filter(({ subjectId }) => subjectId !== customer.id)).toEqual(expected)
  }
  const replayed = await post(api, '/v1/conversations', kept, 'kept')
  expect(replayed.text).toBe(without(first.text))
  expect(replayed.json).toEqual({ ...first.json, customerId: null })
})

test('a retry sends the payload that was stored, without the customer that is gone', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const webhook = await makeWebhook(api, { events: ['conversation.created'] })
  const made = await makeConversation(api, { subject: 'Kept' })
  const { engine, answer, sent } = testEngine(service, clock)
  answer(500)
  for (let attempt = 0; attempt < 6; attempt++) {
    await engine.runDue()
    clock.advance(9 * hour)
  }
  await api.patch(`/v1/conversations/${made.id}`, { subject: 'Changed since' })
  await api.delete(`/v1/customers/${made.customerId}`)
  await service.app.maintenance.run()
  const [delivery] = await deliveriesOf(api, webhook.id)
  expect(delivery.status).toBe('failed')
  expect((await retry(api, delivery)).status).toBe(202)
  answer(200)
  await engine.runDue()
  const last = sent.at(-1)
  expect(last && JSON.parse(dataOf(last))).toEqual({ ...made, customerId: null })
  expect((await deliveriesOf(api, webhook.id))[0].status).toBe('succeeded')
})

test('it is done in pieces, however many objects stay', async () => {
  await using service = await testService()
  const { api } = service
  const { pool } = service.database
  const customer = await makeCustomer(api)
  const item = { customerId: customer.id, channel: 'chat' }
  for (const size of [1_000, 200]) {
    const { status } = await api.post('/v1/conversations/batch', { items: Array(size).fill(item) })
    expect(status).toBe(200)
  }
  await makeTicket(api, { customerId: customer.id })
  await api.delete(`/v1/customers/${customer.id}`)
  const due = async () => (await pool.query(`select 1 from erasures where what = 'reference'`)).rows.length
  expect(await due()).toBe(1_200)
  await service.app.maintenance.run()
  expect(await due()).toBe(0)
  const bodies = (await storedEvents(service, api.organizationId))
    .filter(({ type }) => type === 'conversation.created')
    .map(({ body }) => JSON.parse(body as string).customerId)
  expect(bodies).toEqual(Array(1_200).fill(null))
})
