/** What an organization may store, where the operator says so: creations beyond are 409 `limit_reached`, and nothing else is. */
import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { testClock } from '../../../testbed/clock.ts'
import { makeConversation, makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { receiverUrl } from '../../../testbed/hooks.ts'
import { type Answer, type Api, testService } from '../../../testbed/service.ts'
import { kinds } from '../../src/desk/index.ts'
import { noLimits, type StorageLimits } from '../../src/journal/change.ts'
import { newObject, unchangedDesk } from './writable.fixture.ts'

const limited = (limits: Partial<StorageLimits>) => testService({ storage: { ...noLimits, ...limits } })

async function stored(pool: Pool, { organizationId }: Api) {
  const { rows } = await pool.query<{ rows: number; bytes: number }>(
    `select sum(k.live_count)::int as rows, sum(k.stored_bytes)::int as bytes from kind_counters k
       where k.organization_id = $1`,
    [organizationId],
  )
  return rows[0]!
}

const told = ({ status, json }: Answer) => [status, json.code]
const full = [409, 'limit_reached']

describe('rows', () => {
  test('of all kinds together: none of any kind is made beyond, and the next organization has as many', async () => {
    await using service = await limited({ rows: 4 })
    const { api } = service
    // A customer, a teammate, a conversation, and one more.
    const desk = await unchangedDesk(api, 'full')
    await makeCustomer(api)
    for (const kind of kinds) {
      const answer = await api.post(`/v1/${kind.plural}`, newObject(kind, desk, `one more ${kind.name}`))
      expect(told(answer), kind.name).toEqual(full)
      expect(answer.json.detail).toBe(
        'An organization may have 4 objects of all kinds. Delete customers or tickets that are not needed, or ask the operator for more.',
      )
    }
    expect((await stored(service.database.pool, api)).rows).toBe(4)
    await unchangedDesk(await service.newOrganization(), 'other')
    expect(await audit(service.database.pool, api.organizationId)).toEqual([])
  })

  test('a message that is refused moves nothing: not its conversation, nor a ticket of it', async () => {
    await using service = await limited({ rows: 3 })
    const { api } = service
    const conversation = await makeConversation(api)
    const { customerId, id: conversationId } = conversation
    const ticket = await makeTicket(api, { customerId, conversationId, status: 'pending' })
    const body = { conversationId, direction: 'inbound', author: { type: 'customer' }, body: 'Hello?' }
    expect(told(await api.post('/v1/messages', body))).toEqual(full)
    expect((await api.get(`/v1/conversations/${conversationId}`)).json).toEqual(conversation)
    expect((await api.get(`/v1/tickets/${ticket.id}`)).json).toEqual(ticket)
  })

  test('what is there can be changed, moved and deleted, and what is deleted makes room', async () => {
    await using service = await limited({ rows: 3 })
    const { api } = service
    const { id: conversationId, customerId } = await makeConversation(api)
    const ticket = await makeTicket(api, { customerId })
    const longer = { description: 'long '.repeat(1_000) }
    expect((await api.patch(`/v1/tickets/${ticket.id}`, longer)).status).toBe(200)
    expect((await api.post(`/v1/conversations/${conversationId}/resolve`, {})).status).toBe(200)
    expect(told(await api.post('/v1/customers', { name: 'Grace' }))).toEqual(full)
    // The ticket goes with the customer; the conversation stays.
    expect((await api.delete(`/v1/customers/${customerId}`)).status).toBe(204)
    await makeCustomer(api)
    await makeTeammate(api)
    expect(told(await api.post('/v1/customers', { name: 'Grace' }))).toEqual(full)
    expect(await audit(service.database.pool, api.organizationId)).toEqual([])
  })

  test('a batch makes as many as fit, in their order, and says of the others that they do not', async () => {
    await using service = await limited({ rows: 3 })
    const { api } = service
    await makeCustomer(api, { email: 'taken@example.com' })
    const items = [{ email: 'taken@example.com' }, ...['a', 'b', 'c', 'd'].map((name) => ({ name }))]
    const { status, json } = await api.post('/v1/customers/batch', { items })
    expect(status).toBe(200)
    const shown = json.data.map((item: { status: number; problem?: { code: string } }) => [
      item.status,
      item.problem?.code,
    ])
    // What is refused for another reason takes no room.
    expect(shown).toEqual([[409, 'duplicate'], [201, undefined], [201, undefined], full, full])
    expect(json).toMatchObject({ created: 2, refused: 3 })
    expect(await audit(service.database.pool, api.organizationId)).toEqual([])
  })

  test('an upsert changes what is there, and makes nothing new beyond', async () => {
    await using service = await limited({ rows: 1 })
    const { api } = service
    const { id } = await makeCustomer(api, { externalId: 'old', name: 'before' })
    const items = [
      { externalId: 'new', name: 'new' },
      { externalId: 'old', name: 'after' },
    ]
    const { json } = await api.post('/v1/customers/batch', { operation: 'upsert', items })
    expect(json.data).toMatchObject([
      { outcome: 'refused', status: 409, problem: { code: 'limit_reached' } },
      { outcome: 'updated', status: 200, id },
    ])
    expect((await api.get(`/v1/customers/${id}`)).json.name).toBe('after')
  })

  test('creations at the same time, in two processes, make no more than there may be', async () => {
    const storage = { ...noLimits, rows: 20 }
    await using service = await testService({ storage })
    await using beside = await testService({ storage, database: service.database })
    const { pool } = service.database
    const both = [service.api, beside.withToken(service.api.token)] as const
    const conversationId = (await makeConversation(service.api)).id
    const message = { conversationId, direction: 'outbound', author: { type: 'ai' }, body: 'Hello' }
    const asked = both.flatMap((api) =>
      Array.from({ length: 10 }, (_, n) => [
        api.post('/v1/customers/batch', { items: [{ name: `${n}` }, { name: `${n} too` }] }),
        api.post('/v1/customers', { name: `${n}` }),
        api.post('/v1/messages', message),
      ]).flat(),
    )
    const answers = await Promise.all(asked)
    const made = answers.reduce(
      (sum, { status, json }) => sum + (status === 201 ? 1 : status === 200 ? json.created : 0),
      0,
    )
    expect(made).toBe(18)
    expect((await stored(pool, service.api)).rows).toBe(20)
    expect(await audit(pool, service.api.organizationId)).toEqual([])
  })

  test('a repeated request has its first answer, however full it is by then; a refusal is not kept', async () => {
    await using service = await limited({ rows: 1 })
    const { api } = service
    const post = (key: string) => api.post('/v1/customers', { name: key }, { 'idempotency-key': key })
    const first = await post('first')
    expect(told(await post('second'))).toEqual(full)
    const again = await post('first')
    expect([again.status, again.text]).toEqual([201, first.text])
    await api.delete(`/v1/customers/${first.json.id}`)
    expect((await post('second')).status).toBe(201)
  })
})

describe('bytes', () => {
  test('of representations: what would go beyond is refused, and what is smaller fits', async () => {
    const item = { name: 'Ada', externalId: 'a' }
    await using measure = await testService()
    const { text } = await measure.api.post('/v1/customers', item)
    const one = Buffer.byteLength(text)
    await using service = await limited({ bytes: 3 * one })
    const { api } = service
    for (const externalId of ['a', 'b']) await makeCustomer(api, { ...item, externalId })
    const longer = await api.post('/v1/customers', { name: 'Adä', externalId: 'c' })
    expect(told(longer)).toEqual(full)
    expect(longer.json.detail).toContain(`objects of ${3 * one} bytes together`)
    await makeCustomer(api, { ...item, externalId: 'c' })
    expect(await stored(service.database.pool, api)).toEqual({ rows: 3, bytes: 3 * one })
    expect(told(await api.post('/v1/customers', item))).toEqual([409, 'duplicate'])
    expect(told(await api.post('/v1/customers', { ...item, externalId: 'd' }))).toEqual(full)
  })

  test('a batch stops where they end', async () => {
    await using service = await limited({ bytes: 5_000 })
    const { api } = service
    const items = Array.from({ length: 30 }, (_, n) => ({ name: `${n}`.padStart(8, '0') }))
    const { json } = await api.post('/v1/customers/batch', { items })
    const { rows, bytes } = await stored(service.database.pool, api)
    expect(json).toMatchObject({ created: rows, refused: 30 - rows })
    expect(json.data.map(({ status }: { status: number }) => status)).toEqual([
      ...Array(rows).fill(201),
      ...Array(30 - rows).fill(409),
    ])
    expect(bytes).toBeLessThanOrEqual(5_000)
    expect(bytes + bytes / rows).toBeGreaterThan(5_000)
  })

  test('of numbered objects too, whatever number they get', async () => {
    await using service = await limited({ bytes: 6_000 })
    const { api } = service
    const customerId = (await makeCustomer(api)).id
    const items = Array.from({ length: 30 }, (_, n) => ({ customerId, subject: `${n}` }))
    const { json } = await api.post('/v1/tickets/batch', { items })
    const { rows, bytes } = await stored(service.database.pool, api)
    expect(json.created).toBe(rows - 1)
    expect(json.created).toBeGreaterThan(3)
    expect(bytes).toBeLessThanOrEqual(6_000)
  })
})

describe('stored responses', () => {
  const day = 24 * 60 * 60 * 1000
  const counted = async (pool: Pool, { organizationId }: Api) => {
    const { rows } = await pool.query<{ held: number; told: number; bytes: number }>(
      `select coalesce(sum(k.counted), 0)::int as held,
           coalesce(sum(coalesce(octet_length(k.body), octet_length(k.sealed), 0)), 0)::int as bytes,
           coalesce((select c.stored_bytes from kind_counters c
             where c.organization_id = $1 and c.kind = 'stored response'), 0)::int as told
         from idempotency_keys k where k.organization_id = $1`,
      [organizationId],
    )
    return rows[0]!
  }

  test('count as bytes: at the limit a request that would store another is refused, and goes on without its key', async () => {
    const clock = testClock()
    await using service = await testService({ clock, storage: { ...noLimits, bytes: 400_000 } })
    const { api } = service
    const { pool } = service.database
    const items = Array.from({ length: 300 }, (_, n) => ({ externalId: `${n}`, name: 'x' }))
    const upsert = (key?: string) =>
      api.post(
        '/v1/customers/batch',
        { operation: 'upsert', items },
        key === undefined ? {} : { 'idempotency-key': key },
      )
    expect((await upsert()).json.created).toBe(300)
    const answers: Answer[] = []
    do answers.push(await upsert(`${answers.length}`))
    while (answers.at(-1)?.status === 200 && answers.length < 50)
    const one = Buffer.byteLength(answers[0]?.text ?? '')
    expect(answers.at(-1)?.json).toMatchObject({ status: 409, code: 'limit_reached' })
    expect(answers.at(-1)?.json.detail).toContain('without an Idempotency-Key')
    const { bytes } = await stored(pool, api)
    expect(bytes).toBeGreaterThanOrEqual(400_000)
    expect(bytes).toBeLessThan(400_000 + one)
    // Nothing else is made either, what was answered is answered again, and without a key nothing is stored.
    expect(told(await api.post('/v1/customers', { name: 'Ada' }))).toEqual(full)
    expect((await upsert('0')).text).toBe(answers[0]?.text)
    expect((await upsert()).json.unchanged).toBe(300)
    expect(await stored(pool, api)).toMatchObject({ bytes })
    // Another organization has as much of its own.
    const other = await service.newOrganization()
    expect((await other.post('/v1/customers', { name: 'Ada' }, { 'idempotency-key': '0' })).status).toBe(201)
    clock.advance(day + 1)
    await service.app.maintenance.run()
    expect(await counted(pool, api)).toEqual({ held: 0, told: 0, bytes: 0 })
    expect((await upsert('again')).json.unchanged).toBe(300)
  })

  test('are counted as what they hold, whatever stores, erases, replaces, revokes and forgets them', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { api } = service
    const { pool } = service.database
    const keyed = (path: string, body: unknown, key: string) =>
      api.post(path, body, { 'idempotency-key': key })
    const expectCounted = async (bytes?: number) => {
      const found = await counted(pool, api)
      expect(found.told).toBe(found.held)
      expect(found).toEqual({ held: found.bytes, told: found.bytes, bytes: bytes ?? found.bytes })
      return found.bytes
    }
    const customer = await keyed('/v1/customers', { name: 'Ada' }, 'a')
    await expectCounted(Buffer.byteLength(customer.text))
    const conversation = await makeConversation(api, { customerId: customer.json.id })
    await keyed(`/v1/conversations/${conversation.id}/resolve`, {}, 'a')
    // Nothing to change, and nothing of the stream.
    await keyed(`/v1/conversations/${conversation.id}/resolve`, {}, 'b')
    await keyed('/v1/customers/batch', { items: [{ name: 'a' }, { name: 'b' }] }, 'c')
    const key = await keyed('/v1/api-keys', { name: 'k', scopes: ['customers:read'] }, 'd')
    const hook = { url: receiverUrl, events: ['customer.created'] }
    const webhook = await keyed('/v1/webhooks', hook, 'e')
    expect([key.status, webhook.status]).toEqual([201, 201])
    const all = await expectCounted()
    expect(all).toBeGreaterThan(1_500)
    await api.delete(`/v1/customers/${customer.json.id}`)
    await api.delete(`/v1/api-keys/${key.json.id}`)
    await service.app.maintenance.run()
    const { held, told } = await counted(pool, api)
    expect(told).toBe(held)
    expect(held).toBe(all - Buffer.byteLength(customer.text))
    clock.advance(day + 1)
    // Before maintenance comes by.
    await keyed('/v1/customers', { name: 'Ada' }, 'a')
    await keyed('/v1/customers/batch', { items: [{ name: 'a' }, { name: 'b' }] }, 'c')
    await service.app.maintenance.run()
    // What the batch has replaced is counted until the other goes.
    const left = await counted(pool, api)
    expect(left.told).toBe(left.held)
    expect(left.held).toBeGreaterThan(left.bytes)
    clock.advance(day + 1)
    await service.app.maintenance.run()
    await expectCounted(0)
  })
})

test('without a limit there is none', async () => {
  await using service = await testService()
  const items = Array.from({ length: 1_000 }, (_, n) => ({ name: `${n}` }))
  const { json } = await service.api.post('/v1/customers/batch', { items })
  expect(json.created).toBe(1_000)
})
