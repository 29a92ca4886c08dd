import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Booking,
  type Customer,
  createClient,
  etagOf,
  type Message,
  type MessageCreate,
  type Written,
} from '../src/index.ts'
import { customer, idOf, timeOf } from './rows.ts'
import { problem, scripted } from './scripted.ts'

const apiKey = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
const json = { 'content-type': 'application/json' }

const start = async (...steps: Parameters<typeof scripted>) => {
  const server = await scripted(...steps)
  return { ...server, client: createClient({ baseUrl: server.baseUrl, apiKey, retries: 0 }) }
}

describe('calls', () => {
  test('create posts the input with the key as bearer and answers the row', async () => {
    const { client, seen } = await start({ status: 201, body: customer(1) })
    expect(await client.customers.create({ name: 'Customer 1' })).toEqual(customer(1))
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/customers', body: { name: 'Customer 1' } })
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })

  test('a program whose key may not read says so by the type of what it is told', async () => {
    const { id, object, updatedAt } = customer(1)
    const told = { id, object, updatedAt }
    const { client } = await start({ status: 201, body: told }, { status: 200, body: told })
    const made: Written = await client.customers.create({ name: 'Customer 1' })
    expect(made).toEqual(told)
    const changed: Written = await client.customers.update(id, { name: null }, { ifMatch: etagOf(made) })
    expect(changed).toEqual(told)
    expectTypeOf(made).not.toHaveProperty('name')
  })

  test('get, update and delete address the row and carry their conditions', async () => {
    const { client, seen } = await start(
      { status: 200, body: customer(1) },
      { status: 200, body: customer(1, 9) },
      { status: 204 },
    )
    const row = await client.customers.get(idOf(1))
    expect(row).toEqual(customer(1))
    const changed = await client.customers.update(row.id, { name: null }, { ifMatch: etagOf(row) })
    expect(changed).toEqual(customer(1, 9))
    expect(await client.customers.delete(row.id, { ifMatch: etagOf(changed) })).toBeUndefined()
    expect(seen.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: 'GET', path: `/v1/customers/${idOf(1)}`, body: undefined },
      { method: 'PATCH', path: `/v1/customers/${idOf(1)}`, body: { name: null } },
      { method: 'DELETE', path: `/v1/customers/${idOf(1)}`, body: undefined },
    ])
    const tags = seen.map(({ headers }) => headers['if-match'])
    expect(tags).toEqual([undefined, `"${timeOf(1)}"`, `"${timeOf(9)}"`])
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined, undefined])
  })

  test('get with an entity tag answers not_modified as a value', async () => {
    const { client, seen } = await start({ status: 304 })
    const answer = await client.customers.get(idOf(1), { ifNoneMatch: etagOf(customer(1)) })
    expect(answer).toBe('not_modified')
    expect(seen[0]?.headers['if-none-match']).toBe(`"${timeOf(1)}"`)
    const plain = () => client.customers.get(idOf(1))
    expectTypeOf(plain).returns.resolves.toEqualTypeOf<Customer>()
  })

  test('list sends filters and offset, and answers the envelope', async () => {
    const pagination = { total: 41, limit: 20, offset: 40, hasMore: false }
    const { client, seen } = await start({ status: 200, body: { data: [customer(1)], pagination } })
    const page = await client.customers.list({ offset: 40, tag: 'ä&b', email: 'ada@example.com' }).page()
    expect(page).toEqual({ data: [customer(1)], pagination })
    expect(seen[0]?.path).toBe('/v1/customers')
    expect(seen[0]?.query).toEqual({ offset: '40', tag: 'ä&b', email: 'ada@example.com' })
    await expect(client.customers.list({ tag: 'a\ud800' }).page()).rejects.toThrow(/^tag must have no half/)
    expect(seen).toHaveLength(1)
  })

  test('an answer that does not end is given up at 64 MiB, and is not asked for again', async () => {
    const piece = new Uint8Array(2 ** 20).fill(0x20)
    let [calls, pulled, isCancelled] = [0, 0, false]
    const endless = () => {
      calls++
      const pull = (controller: ReadableStreamDefaultController) => {
        pulled++
        controller.enqueue(piece)
      }
      const cancel = () => {
        isCancelled = true
      }
      return Promise.resolve(new Response(new ReadableStream({ pull, cancel })))
    }
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey, fetch: endless })
    for (const call of [
      () => client.customers.list().page(),
      // A line that does not end, of an answer that may be as long as it is.
      () => client.customers.export()[Symbol.asyncIterator]().next(),
    ]) {
      ;[calls, pulled, isCancelled] = [0, 0, false]
      await expect(call()).rejects.toMatchObject({
        code: 'unexpected_answer',
        message: expect.stringContaining('more than 64 MiB'),
      })
      expect([calls, isCancelled]).toEqual([1, true])
      expect(pulled).toBeLessThan(68)
    }
  })

  test('everything about one customer may have more than 64 MiB, and come as long as it moves', async () => {
    const piece = new Uint8Array(2 ** 20).fill(0x20)
    let left = 66
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(left > 1 ? piece : new TextEncoder().encode('{"object":"customer_export"}'))
        if (--left === 0) controller.close()
      },
    })
    const fetch = () => Promise.resolve(new Response(body))
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey, fetch })
    expect(await client.customers.exportOne(idOf(1))).toEqual({ object: 'customer_export' })
  })

  test('what JSON would make null is refused, and nothing is sent', async () => {
    const { client, seen } = await start({ status: 200, body: customer(1) })
    const lost = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      new Date(Number.NaN),
      [1, undefined],
      { deep: [Number.NaN] },
    ]
    for (const seats of lost) {
      const change = client.customers.update(idOf(1), { customAttributes: { seats: seats as never } })
      await expect(change).rejects.toThrow(TypeError)
    }
    expect(seen).toEqual([])
    const kept = { seats: null, at: 0, left: undefined as never }
    await client.customers.update(idOf(1), { customAttributes: kept })
    expect(seen[0]?.body).toEqual({ customAttributes: { seats: null, at: 0 } })
  })

  test('a dry run asks for one', async () => {
    const { client, seen } = await start({ status: 201, body: customer(1) })
    await client.customers.create({ name: 'Ada' }, { dryRun: true })
    expect(seen[0]?.query).toEqual({ dryRun: 'true' })
  })

  test('ids cannot leave their place in the address', async () => {
    const { client, seen } = await start(problem(404, 'not_found'))
    for (const id of ['', '.', '..']) await expect(client.tickets.delete(id)).rejects.toThrow(TypeError)
    expect(seen).toEqual([])
    await expect(client.tickets.delete('../customers?x')).rejects.toMatchObject({ status: 404 })
    expect(seen[0]?.path).toBe('/v1/tickets/..%2Fcustomers%3Fx')
  })

  test('a base address or key that cannot be used is refused at once', () => {
    for (const baseUrl of ['nonsense', 'ftp://host/v1', 'http://user:word@host/v1', 'http://host/v1?a=b']) {
      expect(() => createClient({ baseUrl, apiKey })).toThrow(/^baseUrl must be/)
    }
    expect(() => createClient({ baseUrl: 'http://host/v1', apiKey: 'two\r\nlines' })).toThrow(TypeError)
    expect(() => createClient({ apiKey })).toThrow('createClient needs baseUrl, or DESKWIRE_URL')
    expect(() => createClient({ baseUrl: 'http://host/v1' })).toThrow('needs apiKey, or DESKWIRE_API_KEY')
  })

  test.each([
    ['https://desk.example/v1', 'https://desk.example/v1'],
    ['https://desk.example/v1/', 'https://desk.example/v1'],
    ['https://desk.example', 'https://desk.example/v1'],
    ['https://desk.example/', 'https://desk.example/v1'],
    ['https://tools.example/desk/v1/', 'https://tools.example/desk/v1'],
    ['https://tools.example/desk', 'https://tools.example/desk/v1'],
  ])('the base address %s means %s, and fetch can be replaced', async (baseUrl, means) => {
    const asked: string[] = []
    const fetch = async (url: string) => {
      asked.push(url)
      return Response.json(customer(1))
    }
    await createClient({ baseUrl, apiKey, fetch }).customers.get(idOf(1))
    expect(asked).toEqual([`${means}/customers/${idOf(1)}`])
  })
})

describe('withResponse', () => {
  const headers = { 'x-request-id': 'req-9', 'ratelimit-policy': '"key";q=500;w=5' }

  test('adds status, headers and request id to the result of the one call', async () => {
    const { client, seen } = await start(
      { status: 201, body: customer(1), headers },
      { status: 200, body: { data: [customer(1)], pagination: {} }, headers },
      { status: 204 },
      { status: 304, headers },
      { status: 200, body: { id: idOf(2) }, headers },
    )
    const made = await client.customers.create({ name: 'Customer 1' }).withResponse()
    expect(made).toMatchObject({ data: customer(1), status: 201, requestId: 'req-9' })
    expect(made.headers.get('ratelimit-policy')).toBe(headers['ratelimit-policy'])
    expectTypeOf(made.data).toEqualTypeOf<Customer>()
    const page = await client.customers.list().page().withResponse()
    expect([page.data.data, page.requestId]).toEqual([[customer(1)], 'req-9'])
    const gone = await client.customers.delete(idOf(1)).withResponse()
    expect(gone).toMatchObject({ data: undefined, status: 204, requestId: undefined })
    const same = await client.customers.get(idOf(1), { ifNoneMatch: '"1"' }).withResponse()
    expect(same).toMatchObject({ data: 'not_modified', status: 304 })
    const call = client.webhooks.ping(idOf(3))
    expect([await call, (await call.withResponse()).data]).toEqual([{ id: idOf(2) }, { id: idOf(2) }])
    expect(seen).toHaveLength(5)
  })

  test('rejects as the call does, once: a failure that is handled there is not reported as unhandled', async () => {
    const { client } = await start(problem(404, 'not_found'), problem(404, 'not_found'))
    const unhandled: unknown[] = []
    const report = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', report)
    try {
      const call = client.customers.get(idOf(1)).withResponse()
      await expect(call).rejects.toMatchObject({ status: 404, requestId: 'req-1' })
      await expect(client.customers.get(idOf(1))).rejects.toMatchObject({ status: 404 })
      // Node reports them after the microtasks of a turn.
      await new Promise(setImmediate)
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', report)
    }
  })

  test('an id that is none rejects, and does not throw', async () => {
    const { client } = await start()
    for (const id of ['', '..', undefined as unknown as string])
      await expect(client.webhooks.ping(id).withResponse()).rejects.toThrow(/^An id is a UUID, not/)
  })
})

describe('actions', () => {
  const conversation = { id: idOf(1), object: 'conversation', updatedAt: timeOf(1) }

  test('are methods: a POST below the row, with what they take and the conditions of the caller', async () => {
    const { client, seen } = await start(
      { status: 200, body: conversation },
      { status: 200, body: { id: idOf(2), object: 'booking' } },
      { status: 200, body: { id: idOf(2), object: 'booking' } },
      { status: 200, body: { id: idOf(2), object: 'booking' } },
    )
    const { bookings, conversations } = client
    expect(await conversations.resolve(idOf(1))).toEqual(conversation)
    const times = { startAt: '2026-02-02T09:00:00.000Z', endAt: '2026-02-02T09:30:00.000Z' }
    await bookings.reschedule(idOf(2), times, { ifMatch: '"then"', idempotencyKey: 'move-7' })
    await bookings.noShow(idOf(2))
    await bookings.reject(idOf(2))
    expect(seen.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: 'POST', path: `/v1/conversations/${idOf(1)}/resolve`, body: undefined },
      { method: 'POST', path: `/v1/bookings/${idOf(2)}/reschedule`, body: times },
      { method: 'POST', path: `/v1/bookings/${idOf(2)}/no-show`, body: undefined },
      { method: 'POST', path: `/v1/bookings/${idOf(2)}/reject`, body: undefined },
    ])
    expect(seen[1]?.headers).toMatchObject({ 'if-match': '"then"', 'idempotency-key': 'move-7' })
    expect(seen[0]?.headers['if-match']).toBeUndefined()
    // Made by the client, so that a repetition in doubt is no second move.
    expect(seen[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/)
  })

  test('of a wrong state are refused with the code of the service', async () => {
    const { client } = await start(problem(409, 'invalid_transition'))
    await expect(client.conversations.reopen(idOf(1))).rejects.toMatchObject({ code: 'invalid_transition' })
    await expect(client.bookings.confirm('..')).rejects.toThrow(TypeError)
  })

  test('have types: what a kind cannot do is not there', () => {
    const { bookings, conversations, messages, teammates } = createClient({ baseUrl: 'http://h/v1', apiKey })
    expectTypeOf(conversations.summarize).parameter(1).toEqualTypeOf<{ summary: string }>()
    expectTypeOf(bookings.cancel).parameter(1).toExtend<{ by: 'customer' | 'teammate' | 'system' }>()
    expectTypeOf(bookings.cancel).returns.resolves.toEqualTypeOf<Booking>()
    expectTypeOf(messages).not.toHaveProperty('update')
    expectTypeOf(messages).toHaveProperty('delete')
    expectTypeOf(teammates).toHaveProperty('delete')
    expect('update' in messages).toBe(false)
    expect('delete' in conversations).toBe(true)
  })

  test('members of an object that may be missing are optional; its words are open to read, closed to write', () => {
    const author = { type: 'teammate', id: idOf(3) } as const
    expectTypeOf(author).toExtend<MessageCreate['author']>()
    expectTypeOf<{ type: 'ai' }>().toExtend<MessageCreate['author']>()
    expectTypeOf<{ type: 'robot' }>().not.toExtend<MessageCreate['author']>()
    expectTypeOf<Message['author']['id']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<'robot'>().toExtend<Message['author']['type']>()
    expectTypeOf<Message['attachments'][number]['sizeBytes']>().toEqualTypeOf<number>()
  })
})

describe('failures', () => {
  test('a problem becomes an error with all its parts', async () => {
    const errors = [{ pointer: '/email', code: 'format', detail: 'Not an address.' }]
    const { client } = await start(
      problem(422, 'validation_failed', { 'x-request-id': 'req-2' }, { errors }),
      problem(409, 'duplicate', {}, { existingId: idOf(7) }),
    )
    const invalid = client.customers.create({ email: 'x' })
    await expect(invalid).rejects.toMatchObject({
      name: 'InvalidRequestError',
      message: '422 validation_failed: What to do about validation_failed.',
      status: 422,
      code: 'validation_failed',
      detail: 'What to do about validation_failed.',
      requestId: 'req-2',
      errors,
    })
    const twice = client.customers.create({ email: 'ada@example.com' })
    await expect(twice).rejects.toMatchObject({
      requestId: 'req-1',
      errors: [],
      problem: { existingId: idOf(7) },
    })
  })

  test('a failed condition is a problem too', async () => {
    const { client } = await start(problem(412, 'version_mismatch'))
    const late = client.tickets.update(idOf(1), { status: 'open' }, { ifMatch: '"old"' })
    await expect(late).rejects.toMatchObject({ status: 412, code: 'version_mismatch' })
  })

  test('an answer of something else is unexpected_answer', async () => {
    const page = '<html>Bad gateway</html>'
    const { client } = await start(
      { status: 502, text: page },
      { status: 200, text: page },
      { status: 404, body: { message: 'no such route' }, headers: json },
    )
    const codes = { code: 'unexpected_answer', requestId: undefined }
    const bad = client.customers.get(idOf(1))
    await expect(bad).rejects.toMatchObject({ ...codes, status: 502, detail: expect.stringContaining(page) })
    await expect(client.customers.get(idOf(1))).rejects.toMatchObject({ ...codes, status: 200 })
    await expect(client.customers.get(idOf(1))).rejects.toMatchObject({ ...codes, status: 404 })
  })

  test('no answer is connection_failed, with its cause', async () => {
    const { client } = await start('drop', 'truncate')
    const failed = { status: 0, code: 'connection_failed', cause: expect.any(Error) }
    await expect(client.customers.get(idOf(1))).rejects.toMatchObject(failed)
    await expect(client.customers.get(idOf(1))).rejects.toMatchObject(failed)
  })

  test('a redirect is not followed: the key stays at the base address', async () => {
    const elsewhere = await scripted({ status: 200, body: customer(1) })
    const { client } = await start({ status: 307, headers: { location: elsewhere.baseUrl } })
    await expect(client.customers.get(idOf(1))).rejects.toMatchObject({ status: 307 })
    expect(elsewhere.seen).toEqual([])
  })
})
