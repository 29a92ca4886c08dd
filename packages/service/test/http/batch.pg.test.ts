/** `POST /v1/{kind}/batch`: many creations or upserts in one transaction, each with an outcome of its own. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { audit, eventsOf } from '../../../testbed/audit.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { interposed } from '../../../testbed/interpose.ts'
import { type Answer, type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

const batch = (api: Api, items: unknown, operation?: string, key?: string) =>
  api.post(
    '/v1/customers/batch',
    operation === undefined ? { items } : { operation, items },
    key === undefined ? {} : { 'idempotency-key': key },
  )

async function customers(api: Api) {
  return (await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z&limit=100')).json
}

describe('creations', () => {
  test('commit together, under one stamp, each with its event', async () => {
    const api = await shared().newOrganization()
    const { status, json } = await batch(api, [{ name: 'Ada' }, { name: 'Grace' }, { name: 'Edsger' }])
    expect(status).toBe(200)
    expect(json).toMatchObject({ created: 3, updated: 0, unchanged: 0, refused: 0 })
    expect(json.data.map(({ index, outcome, status }: never) => [index, outcome, status])).toEqual([
      [0, 'created', 201],
      [1, 'created', 201],
      [2, 'created', 201],
    ])
    const { data } = await customers(api)
    expect(new Set(data.map(({ updatedAt }: { updatedAt: string }) => updatedAt)).size).toBe(1)
    expect(data.map(({ id }: { id: string }) => id).sort()).toEqual(
      json.data.map(({ id }: { id: string }) => id).sort(),
    )
    const events = await eventsOf(shared().database.pool, api.organizationId)
    expect(events.map(({ type }) => type)).toEqual(Array(3).fill('customer.created'))
    expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
  })

  test('leave out what is refused, each for its own reason, and commit the rest', async () => {
    const api = await shared().newOrganization()
    const taken = await makeCustomer(api, { email: 'taken@example.com' })
    const { json } = await batch(api, [
      { name: 'fine' },
      { email: 'taken@example.com' },
      { name: 5 },
      null,
      { email: 'Twice@example.com' },
      { email: 'twice@example.com' },
      {},
    ])
    const shown = json.data.map((item: { status: number; problem?: { code: string } }) => [
      item.status,
      item.problem?.code,
    ])
    expect(shown).toEqual([
      [201, undefined],
      [409, 'duplicate'],
      [422, 'validation_failed'],
      [422, 'validation_failed'],
      [201, undefined],
      [409, 'duplicate'],
      [422, 'validation_failed'],
    ])
    expect(json.data[1].problem.existingId).toBe(taken.id)
    expect(json.data[2].problem.errors).toEqual([expect.objectContaining({ pointer: '/name' })])
    expect(json.data[5].problem).toMatchObject({
      existingId: json.data[4].id,
      detail: expect.stringContaining('Item 4'),
    })
    expect(json).toMatchObject({ created: 2, refused: 5 })
    expect((await customers(api)).pagination.total).toBe(3)
  })

  test('of references that dangle are refused alone', async () => {
    const api = await shared().newOrganization()
    const customer = await makeCustomer(api)
    const { json } = await api.post('/v1/tickets/batch', {
      items: [
        { customerId: customer.id, subject: 'kept' },
        { customerId: '01980000-0000-7000-8000-000000000001', subject: 'dangling' },
      ],
    })
    expect(json).toMatchObject({ created: 1, refused: 1 })
    expect(json.data[1].problem.errors).toEqual([expect.objectContaining({ pointer: '/customerId' })])
    const [ticket] = (await api.get('/v1/tickets')).json.data
    expect(ticket).toMatchObject({ subject: 'kept', number: 1 })
  })

  test('a thousand messages move their conversations once, in one commit', async () => {
    const api = await shared().newOrganization()
    const { id: customerId } = await makeCustomer(api)
    const open = async () =>
      (await api.post('/v1/conversations', { customerId, channel: 'chat' })).json as { id: string }
    const [one, other] = [await open(), await open()]
    const items = Array.from({ length: 1_000 }, (_, n) => ({
      conversationId: n % 2 === 0 ? one.id : other.id,
      direction: 'outbound',
      author: { type: 'system' },
      body: `message ${n}`,
      sentAt: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
    }))
    const { json } = await api.post('/v1/messages/batch', { items })
    expect(json).toMatchObject({ created: 1_000, refused: 0 })
    const [a, b] = await Promise.all(
      [one, other].map(async ({ id }) => (await api.get(`/v1/conversations/${id}`)).json),
    )
    expect(a.lastMessageAt).toBe(items[998]!.sentAt)
    expect(b.lastMessageAt).toBe(items[999]!.sentAt)
    expect(a.updatedAt).toBe(b.updatedAt)
    expect((await api.get('/v1/messages')).json.pagination.total).toBe(1_000)
    expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
  })
})

describe('upserts', () => {
  test('create what is not there, change what is, and leave what is the same', async () => {
    const api = await shared().newOrganization()
    await batch(api, [
      { externalId: 'a', name: 'Ada', company: 'kept' },
      { externalId: 'b', name: 'Grace' },
    ])
    const before = await customers(api)
    const { json } = await batch(
      api,
      [
        { externalId: 'a', name: 'Ada Lovelace' },
        { externalId: 'b', name: 'Grace' },
        { externalId: 'c', name: 'Edsger' },
      ],
      'upsert',
    )
    expect(json.data.map(({ outcome, status }: never) => [outcome, status])).toEqual([
      ['updated', 200],
      ['unchanged', 200],
      ['created', 201],
    ])
    const after = await customers(api)
    const byExternalId = Object.fromEntries(
      after.data.map((row: { externalId: string }) => [row.externalId, row]),
    )
    expect(byExternalId.a).toMatchObject({ name: 'Ada Lovelace', company: 'kept' })
    const unchanged = before.data.find((row: { externalId: string }) => row.externalId === 'b')
    expect(byExternalId.b).toEqual(unchanged)
    const types = (await eventsOf(shared().database.pool, api.organizationId)).map(({ type }) => type)
    expect(types.sort()).toEqual([...Array(3).fill('customer.created'), 'customer.updated'])
  })

  test('may repeat what is set at creation only, and not change it', async () => {
    const api = await shared().newOrganization()
    const [one, other] = [await makeCustomer(api), await makeCustomer(api)]
    const upsert = (customerId: string, subject: string) =>
      api.post('/v1/tickets/batch', {
        operation: 'upsert',
        items: [{ externalId: 't', customerId: customerId.toUpperCase(), subject }],
      })
    await upsert(one.id, 'first')
    expect((await upsert(one.id, 'second')).json.data[0]).toMatchObject({ outcome: 'updated' })
    expect((await upsert(other.id, 'third')).json.data[0]).toMatchObject({
      status: 422,
      problem: { errors: [{ pointer: '/customerId', code: 'read_only' }] },
    })
  })

  test('need an externalId each, and each but once', async () => {
    const api = await shared().newOrganization()
    const { json } = await batch(
      api,
      [{ name: 'nobody' }, { externalId: 'a', name: 'one' }, { externalId: 'a', name: 'two' }],
      'upsert',
    )
    expect(json.data[0].problem.errors).toEqual([
      expect.objectContaining({ pointer: '/externalId', code: 'required' }),
    ])
    expect(json.data[1].outcome).toBe('created')
    expect(json.data[2]).toMatchObject({
      status: 409,
      problem: { code: 'duplicate', existingId: json.data[1].id },
    })
    const again = await batch(
      api,
      [
        { externalId: 'a', name: 'one' },
        { externalId: 'a', name: 'two' },
      ],
      'upsert',
    )
    expect(again.json.data.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'unchanged',
      'refused',
    ])
  })

  test('of the same objects by many at once leave one of each, and none is refused', async () => {
    const api = await shared().newOrganization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, caller) =>
        batch(
          api,
          Array.from({ length: 20 }, (_, n) => ({ externalId: `x${n}`, name: `${caller}` })),
          'upsert',
        ),
      ),
    )
    expect(answers.map(({ json }) => json.refused)).toEqual(Array(8).fill(0))
    expect(answers.reduce((sum, { json }) => sum + json.created, 0)).toBe(20)
    const { data, pagination } = await customers(api)
    expect(pagination.total).toBe(20)
    // One transaction each: whoever came last wrote all of them.
    expect(new Set(data.map(({ name }: { name: string }) => name)).size).toBe(1)
    expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
  })
})

describe('a batch that is wrong all over', () => {
  test('is answered in bounded size: each item lists its first wrong place, and some of them all', async () => {
    const api = await shared().newOrganization()
    const item = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x${n}`, 0]))
    const { status, json, text } = await batch(api, Array(1_000).fill(item))
    expect([status, json.refused]).toEqual([200, 1_000])
    const listed = json.data.map(({ problem }: { problem: { errors: unknown[] } }) => problem.errors.length)
    expect(Math.max(...listed)).toBe(100)
    expect(Math.min(...listed)).toBe(1)
    expect(listed.reduce((sum: number, count: number) => sum + count, 0)).toBe(2_000)
    expect(json.data[999].problem.detail).toContain('at least 899 more')
    expect(text.length).toBeLessThan(2_000_000)
  })

  test('lets others have their turn: what was asked later is answered before', async () => {
    const api = await shared().newOrganization()
    const item = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x${n}`, 0]))
    const { promise: arrived, resolve } = Promise.withResolvers<ServerResponse>()
    shared().app.server.server.on('request', (message: IncomingMessage, response: ServerResponse) => {
      if (message.url === '/v1/customers/batch') message.once('end', () => resolve(response))
    })
    const large = batch(api, Array(1_000).fill(item))
    const answer = await arrived
    expect((await api.get('/v1/customers')).status).toBe(200)
    expect(answer.headersSent).toBe(false)
    expect((await large).status).toBe(200)
  })
})

describe('an upsert that names large objects with few bytes', () => {
  test('changes as many as one call may, and says which are for another', async () => {
    const api = await shared().newOrganization()
    const { id: customerId } = await makeCustomer(api)
    const upsert = (items: object[]) => api.post('/v1/tickets/batch', { operation: 'upsert', items })
    const description = 'x'.repeat(64_000)
    for (let part = 0; part < 2; part++) {
      const items = Array.from({ length: 200 }, (_, n) => ({
        externalId: `${part * 200 + n}`,
        customerId,
        subject: 'large',
        description,
      }))
      expect((await upsert(items)).json.created).toBe(200)
    }
    const items = Array.from({ length: 400 }, (_, n) => ({ externalId: `${n}`, subject: 'changed' }))
    const { json } = await upsert(items)
    const later = json.data.filter(({ status }: { status: number }) => status === 413)
    expect(later[0].problem).toMatchObject({
      code: 'body_too_large',
      detail: expect.stringContaining('16 MiB'),
    })
    // Fifty are read at a time: those at hand when it is enough are changed too.
    expect(json).toMatchObject({ updated: 300, refused: 100 })
    const rest = later.map(({ index }: { index: number }) => items[index])
    expect((await upsert(rest)).json).toMatchObject({ updated: 100, refused: 0 })
  })
})

describe('an Idempotency-Key', () => {
  test('makes the same batch twice one batch and one answer', async () => {
    const api = await shared().newOrganization()
    const twins = await Promise.all(
      Array.from({ length: 4 }, () => batch(api, [{ name: 'Ada' }, { name: 1 }], undefined, 'k')),
    )
    expect(new Set(twins.map(({ text }) => text)).size).toBe(1)
    expect(twins.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    expect((await customers(api)).pagination.total).toBe(1)
    expect((await batch(api, [{ name: 'Grace' }], undefined, 'k')).json.code).toBe('idempotency_key_reused')
  })
})

test('a twin that finds everything done by the other gives the answer of the other', async () => {
  await using database = await testDatabase()
  await using other = await testService({ database })
  const body = { operation: 'upsert', items: [{ name: 'Ada', externalId: '1' }] }
  const key = { 'idempotency-key': 'twins' }
  let first: Answer | undefined
  // Between the look for a stored response and the look for what exists, the other service makes it.
  const late = interposed(database, async (text) => {
    if (first === undefined && text.includes('from customers f'))
      first = await other.api.post('/v1/customers/batch', body, key)
  })
  await using service = await testService({ database: late })
  const twin = await service.withToken(other.api.token).post('/v1/customers/batch', body, key)
  expect(first?.json.data[0].outcome).toBe('created')
  expect(twin.text).toBe(first?.text)
})

describe('a request that is wrong as a whole', () => {
  test.each([
    [[], '', 'invalid_type'],
    [{}, '/items', 'required'],
    [{ items: {} }, '/items', 'invalid_type'],
    [{ items: [] }, '/items', 'required'],
    [{ items: Array(1_001).fill({ name: 'x' }) }, '/items', 'too_many'],
    [{ items: [{ name: 'x' }], operation: 'delete' }, '/operation', 'invalid_value'],
    [{ items: [{ name: 'x' }], mode: 'upsert' }, '/mode', 'unknown_field'],
  ])('%j', async (body, pointer, code) => {
    const api = await shared().newOrganization()
    const { status, json } = await api.post('/v1/customers/batch', body)
    expect(status).toBe(422)
    expect(json.errors).toEqual([expect.objectContaining({ pointer, code })])
    expect((await customers(api)).pagination.total).toBe(0)
  })

  test('with a name twice in an item, or with what is no JSON, is refused whole', async () => {
    const api = await shared().newOrganization()
    for (const item of ['{"name":"a","n\\u0061me":"b"}', '{"name":}']) {
      const { status, json } = await api.post('/v1/customers/batch', `{"items":[{"name":"first"},${item}]}`)
      expect([status, json.code]).toEqual([400, 'malformed_json'])
      expect(json.detail).toContain('Item 1')
    }
    expect((await customers(api)).pagination.total).toBe(0)
  })

  test('with more items than it may have is told so before anything is parsed', async () => {
    const api = await shared().newOrganization()
    const { status, json } = await api.post(
      '/v1/customers/batch',
      `{"items":[${'{},'.repeat(1_000)}and no JSON from here on`,
    )
    expect(status).toBe(422)
    expect(json.errors).toEqual([expect.objectContaining({ pointer: '/items', code: 'too_many' })])
  })

  test('of a kind that has no externalId: no upserts', async () => {
    const api = await shared().newOrganization()
    const { json } = await api.post('/v1/teammates/batch', { operation: 'upsert', items: [{ name: 'x' }] })
    expect(json.errors).toEqual([expect.objectContaining({ pointer: '/operation' })])
    expect(json.detail).toContain('externalId')
  })

  test('takes 16 MiB and no more, and says so', async () => {
    const api = await shared().newOrganization()
    const item = (n: number) => ({ name: `c${n}`, customAttributes: attributes })
    const attributes = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`key${n}`, 'x'.repeat(500)]))
    const fits = await batch(
      api,
      Array.from({ length: 1_000 }, (_, n) => item(n)),
    )
    expect(fits.json.created).toBe(1_000)
    const over = await batch(
      api,
      Array.from({ length: 1_100 }, (_, n) => item(n)),
    )
    expect(over.status).toBe(413)
    expect(over.json.detail).toContain('16 MiB')
  })
})
