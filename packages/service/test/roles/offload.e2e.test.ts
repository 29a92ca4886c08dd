/** Large bodies of a real service: read in a thread, and answered as all others are. */
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import { type Api, createApi, testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

/** A service as a process, on the database of one in this process, whose keys it takes. */
async function started(settings: Readonly<Record<string, string>> = {}) {
  const beside = await testService()
  const services = createServices()
  const database = ['--database-url', socketUrl(beside.database.connection)]
  const service = await services.serve(['--role', 'api', ...database], {
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...settings,
  })
  return {
    beside,
    service,
    /** Calls it with an organization's key. */
    as: ({ organizationId, token }: Api) => createApi(service.url, organizationId, token),
    metrics: async () => (await fetch(`${service.url}/metrics`)).text(),
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      await beside[Symbol.asyncDispose]()
    },
  }
}

/** A service for the tests around it, which are run in their order: the first finds it without its thread. */
function shared(settings: Readonly<Record<string, string>> = {}) {
  let it: Awaited<ReturnType<typeof started>> | undefined
  beforeAll(async () => {
    it = await started(settings)
  })
  afterAll(() => it?.[Symbol.asyncDispose]())
  return () => it as Awaited<ReturnType<typeof started>>
}

const threadIsThere = /^deskwire_event_loop_delay_max_seconds\{process="bulk"\} /m
const commitsOf = (part: string, text: string) =>
  new RegExp(`^deskwire_stream_commit_duration_seconds_count\\{process="${part}"\\} (\\d+)$`, 'm').exec(
    text,
  )?.[1]

/** Sends so many batches of 4 MB, and waits for no answer. */
async function sendBatches({ service }: Awaited<ReturnType<typeof started>>, { token }: Api, count: number) {
  const item = `{"name":"left"${' '.repeat(800_000)}}`
  const body = `{"items":[${Array(5).fill(item).join()}]}`
  const head = [
    'POST /v1/customers/batch HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const { hostname, port } = new URL(service.url)
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => {}))
  await Promise.all(
    sockets.map((socket) => new Promise((sent) => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, sent))),
  )
  return { sockets, body }
}

describe('a service', () => {
  const service = shared()

  test('the thread answers large requests alone, and is started by the first', async () => {
    const it = service()
    const { api } = it.beside
    const { patch, post } = it.as(api)
    const small = await post('/v1/customers', '{"name":"Ada"}')
    expect(small.status).toBe(201)
    const few = await post('/v1/customers/batch', '{"items":[{"name":"Grace"},{"name":""}]}')
    expect(few.json).toMatchObject({ created: 1, refused: 1 })
    expect(await it.metrics()).not.toMatch(threadIsThere)

    const { id: customerId } = small.json
    const ticket = { customerId, subject: 'large', description: 'x'.repeat(60_000) }
    const made = await post('/v1/tickets', JSON.stringify(ticket), { 'x-request-id': 'told-apart' })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/v1/tickets/${made.json.id}`)
    expect(made.headers.get('etag')).toMatch(/^"/)
    expect(made.headers.get('x-request-id')).toBe('told-apart')
    expect((await api.get(`/v1/tickets/${made.json.id}`)).text).toBe(made.text)

    const patched = await patch(
      `/v1/tickets/${made.json.id}`,
      JSON.stringify({ description: 'y'.repeat(64_000) }),
    )
    expect(patched.json.description).toBe('y'.repeat(64_000))
    // They were asked for a moment ago, and are made once a second.
    const text = await eventually('metrics name the thread', async () => {
      const told = await it.metrics()
      return threadIsThere.test(told) && told
    })
    expect([commitsOf('api', text), commitsOf('bulk', text)]).toEqual(['2', '2'])
  })

  test('it answers where the service runs with the lowest priority, as under nice', async () => {
    await using it = await started()
    setPriority(it.service.pid, 19)
    const items = Array.from({ length: 600 }, (_, n) => ({ name: `Customer ${n} ${'x'.repeat(60)}` }))
    expect((await it.as(it.beside.api).post('/v1/customers/batch', JSON.stringify({ items }))).status).toBe(
      200,
    )
  })

  test('its answers keep what bodies and keys promise', async () => {
    const it = service()
    const api = await it.beside.newOrganization()
    const { post } = it.as(api)
    const batch = JSON.stringify({
      items: Array.from({ length: 1_000 }, (_, n) => ({ name: `Customer ${n}` })),
    })
    const key = { 'idempotency-key': 'once' }
    const [first, twin] = await Promise.all([
      post('/v1/customers/batch', batch, key),
      post('/v1/customers/batch', batch, key),
    ])
    expect(first.json.created).toBe(1_000)
    expect(twin.text).toBe(first.text)
    expect([first, twin].filter(({ headers }) => headers.has('idempotent-replayed'))).toHaveLength(1)

    const padding = ' '.repeat(100_000)
    const refused = await post('/v1/customers', `{"name":"a",${padding}"name":"b"}`)
    expect([refused.status, refused.json.code]).toEqual([400, 'malformed_json'])
    expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    const reader = await it.beside.newKey(api.organizationId, ['customers:read'])
    const forbidden = await post('/v1/customers/batch', batch, { authorization: `Bearer ${reader.token}` })
    expect([forbidden.status, forbidden.json.code]).toEqual([403, 'insufficient_scope'])
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(1_000)
  })

  test('a hundred thousand unknown fields are refused as a few are', async () => {
    const it = service()
    const { post } = it.as(it.beside.api)
    const fields = Array.from({ length: 100_000 }, (_, n) => `"x${n.toString(36)}":0`).join()
    const answers = await Promise.all(Array.from({ length: 3 }, () => post('/v1/customers', `{${fields}}`)))
    for (const { status, json } of answers) {
      expect([status, json.code, json.errors.length]).toEqual([422, 'validation_failed', 100])
      expect(json.errors[99]).toMatchObject({ pointer: '/x2r', code: 'unknown_field' })
    }
  })

  test('a batch whose client disconnects is never begun if it waits, and holds its bytes until it ends if it does not', async () => {
    const it = service()
    const { database } = it.beside
    const api = await it.beside.newOrganization()
    const held = async () =>
      Number(/^deskwire_http_memory_bytes\{process="api"\} (\d+)$/m.exec(await it.metrics())?.[1])
    await using lock = await lockRow(database, 'organization_clocks', api)
    const { sockets, body } = await sendBatches(it, api, 4)
    const waiting = async () =>
      Number(/^deskwire_http_requests_waiting\{process="api"\} (\d+)$/m.exec(await it.metrics())?.[1])
    await eventually('two are in the thread, and two wait', async () => (await waiting()) === 2)
    for (const socket of sockets) socket.destroy()
    await eventually('those that wait have left', async () => (await waiting()) === 0)
    expect(await held()).toBe(2 * body.length)
    await lock.release()
    await eventually('all is released', async () => (await held()) === 0)
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(10)
    expect(it.service.output.all).not.toContain('a request failed')
  })

  test('a stop ends a batch that is under way', async () => {
    const it = service()
    const api = await it.beside.newOrganization()
    const slow = it
      .as(api)
      .post('/v1/customers/batch', `{"items":[${Array(1_000).fill('{"name":"late"}').join()}]}`)
    await eventually('the batch is under way', async () => {
      const { rows } = await it.beside.database.pool.query(
        'select 1 from customers c where c.organization_id = $1 limit 1',
        [api.organizationId],
      )
      return rows.length > 0
    })
    const ended = it.service.end('SIGTERM')
    expect((await slow).json.created).toBe(1_000)
    expect((await ended).code).toBe(0)
  })
})

describe('a service whose organizations may store little', () => {
  const service = shared({ DESKWIRE_MAX_ROWS: '2', DESKWIRE_MAX_BYTES: '1MiB' })

  test('a page that will be large, as the last one was, is made by the thread, and is the same', async () => {
    const it = service()
    const { api } = it.beside
    const { id: customerId } = (await api.post('/v1/customers', { name: 'Ada' })).json
    const items = Array.from({ length: 20 }, (_, n) => ({
      customerId,
      subject: `${n}`,
      description: 'x'.repeat(60_000),
    }))
    expect((await api.post('/v1/tickets/batch', { items })).status).toBe(200)
    const get = async (path: string) => {
      const { status, headers, text } = await it.as(api).get(path)
      return { status, type: headers.get('content-type'), text }
    }
    const first = await get('/v1/tickets?limit=100')
    expect(first.text.length).toBeGreaterThan(1_200_000)
    expect(await it.metrics()).not.toMatch(threadIsThere)
    expect(await get('/v1/tickets?limit=100')).toEqual(first)
    await eventually('metrics name the thread', async () => threadIsThere.test(await it.metrics()))
    // Small ones of the same route are made there too, for a while, and refused as anywhere.
    expect((await get('/v1/tickets?limit=1')).status).toBe(200)
    expect((await get('/v1/tickets?limit=0')).status).toBe(400)
    const stream = '/v1/tickets?updatedAfter=1970-01-01T00:00:00Z'
    const page = JSON.parse((await get(stream)).text)
    expect(page.data).toHaveLength(20)
    const waiting = get(`/v1/tickets?cursor=${page.pagination.nextCursor}&wait=30`)
    expect((await api.post('/v1/tickets', { customerId, subject: 'news' })).status).toBe(201)
    expect(JSON.parse((await waiting).text).data).toHaveLength(1)
  })

  test('what an organization may store holds for the thread as for the rest', async () => {
    const it = service()
    const { post } = it.as(await it.beside.newOrganization())
    const padding = ' '.repeat(4_096)
    const batch = await post(
      '/v1/customers/batch',
      `{"items":[{"name":"a"},${padding}{"name":"b"},{"name":"c"}]}`,
    )
    expect(batch.json).toMatchObject({ created: 2, refused: 1 })
    expect(batch.json.data[2].problem.code).toBe('limit_reached')
    await eventually('the thread made it', async () => Number(commitsOf('bulk', await it.metrics())) > 0)
    const single = await post('/v1/customers', '{"name":"d"}')
    expect([single.status, single.json.code]).toEqual([409, 'limit_reached'])
  })

  test('a stop answers large requests whose clients have left', async () => {
    const it = service()
    const { database } = it.beside
    const api = await it.beside.newOrganization()
    await using lock = await lockRow(database, 'organization_clocks', api)
    const { sockets } = await sendBatches(it, api, 2)
    await waitingBackends(database, 1)
    const ended = it.service.end('SIGTERM')
    for (const socket of sockets) socket.destroy()
    await eventually('the service does not listen any more', () =>
      fetch(`${it.service.url}/livez`).then(
        () => false,
        () => true,
      ),
    )
    await lock.release()
    expect((await ended).code).toBe(0)
    expect(it.service.output.all).not.toMatch(/a request failed|ended with code|after calling end/)
  })
})
