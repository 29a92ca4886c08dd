/** Tools with arguments and answers of every size: a socket buffers 16 KiB, and more is counted, offloaded or sent in pieces. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeMessage, makeTeammate } from '../../../testbed/desk.ts'
import { call, eventStream, mcpClient, refusalOf } from '../../../testbed/mcp-client.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

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
