/** Lists that grow, as a stream of server-sent events. */
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { type EventReader, openEvents, type ServerEvent } from '../../../testbed/event-stream.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { admissionLimits } from '../../src/http/admit.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { suspendOrganization } from '../../src/organization/suspension.ts'

const shared = sharedService({ readers: { heartbeat: 50, streamsOfKey: 3 } })

const beginning = 'updatedAfter=1970-01-01T00:00:00Z'

function open(api: Api, path: string, headers: Record<string, string> = {}, url = shared().url) {
  return openEvents(`${url}${path}`, { authorization: `Bearer ${api.token}`, ...headers })
}

async function eventOf(stream: EventReader, type: string): Promise<ServerEvent> {
  const event = await stream.next()
  expect(event?.type).toBe(type)
  return event as ServerEvent
}

const json = (event: ServerEvent) => JSON.parse(event.data)

test('a page is an event with its cursor as id, and the checkpoint one of its own', async () => {
  const api = await shared().newOrganization()
  const made = [await makeCustomer(api), await makeCustomer(api), await makeCustomer(api)]
  await using stream = await open(api, `/v1/changes?${beginning}&limit=2`)
  expect(stream.status).toBe(200)
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    vary: 'Accept',
  })
  const first = await eventOf(stream, 'page')
  const last = await eventOf(stream, 'page')
  expect([...json(first).data, ...json(last).data]).toEqual(made)
  expect(first.id).toBe(json(first).pagination.nextCursor)
  expect(json(last).pagination).toMatchObject({ hasMore: false, nextCursor: last.id })
  const checkpoint = await eventOf(stream, 'checkpoint')
  expect(checkpoint.id).toBe(last.id)
  expect(json(checkpoint).customer).toMatchObject({ count: 3 })
  const later = await makeCustomer(api)
  expect(json(await eventOf(stream, 'page')).data).toEqual([later])
  expect(json(await eventOf(stream, 'checkpoint')).customer).toMatchObject({ count: 4 })
})

test('has the bytes of the pages that wait answers', async () => {
  const api = await shared().newOrganization()
  const customer = await makeCustomer(api, { name: 'Zoë   "A\\nda"' })
  for (let n = 0; n < 5; n++) await makeTicket(api, { customerId: customer.id, subject: `line\n${n}` })
  for (const path of ['/v1/changes', '/v1/events']) {
    const start = path === '/v1/changes' ? `${beginning}&` : ''
    await using stream = await open(api, `${path}?${start}limit=4`)
    let query = start
    for (let hasMore = true; hasMore; ) {
      const answer = await api.get(`${path}?${query}limit=4&wait=1`)
      const page = await eventOf(stream, 'page')
      hasMore = answer.json.pagination.hasMore
      const isProved = path === '/v1/changes' && !hasMore
      const proof = isProved ? `,"checkpoint":${(await eventOf(stream, 'checkpoint')).data}` : ''
      expect(`${page.data.slice(0, -2)}${proof}}}`).toBe(answer.text)
      query = `cursor=${answer.json.pagination.nextCursor}&`
    }
  }
})

test('goes on after its last id, which overrides the query that a browser sends again', async () => {
  const api = await shared().newOrganization()
  const [first, second] = [await makeCustomer(api), await makeCustomer(api)]
  const stream = await open(api, `/v1/changes?${beginning}&limit=1`)
  const { id } = await eventOf(stream, 'page')
  stream.close()
  for (const query of [`${beginning}&limit=1`, `cursor=${id}`]) {
    await using next = await open(api, `/v1/changes?${query}`, { 'last-event-id': String(id) })
    expect(json(await eventOf(next, 'page')).data).toEqual([second])
  }
  await using events = await open(api, '/v1/events?createdAfter=2026-01-01T00:00:00Z&limit=1')
  const event = await eventOf(events, 'page')
  expect(json(event).data[0].data).toEqual(first)
  await using further = await open(api, '/v1/events?createdAfter=2026-01-01T00:00:00Z', {
    'last-event-id': String(event.id),
  })
  expect(json(await eventOf(further, 'page')).data[0].data).toEqual(second)
  const refused = await open(api, `/v1/changes?${beginning}`, { 'last-event-id': 'none' })
  expect([refused.status, JSON.parse(await refused.text()).code]).toEqual([400, 'invalid_cursor'])
})

test('JSON is sent to clients that do not prefer events, and where a list has none', async () => {
  const api = await shared().newOrganization()
  for (const [path, accept] of [
    [`/v1/changes?${beginning}`, '*/*'],
    [`/v1/changes?${beginning}`, 'application/json, text/event-stream'],
    [`/v1/changes?${beginning}`, 'text/event-stream;q=0.5, application/json;q=0.9'],
    [`/v1/changes?${beginning}`, 'text/html'],
    ['/v1/events', 'application/*, text/event-stream;q=0.9'],
    [`/v1/customers?${beginning}`, 'text/event-stream'],
  ] as const) {
    const { status, headers } = await api.get(path, { accept })
    expect([path, accept, status, headers.get('content-type')]).toEqual([
      path,
      accept,
      200,
      'application/json; charset=utf-8',
    ])
  }
  const accept = 'application/json;q=0.9, text/event-stream'
  await using stream = await open(api, `/v1/changes?${beginning}`, { accept, 'accept-encoding': 'br, gzip' })
  expect(stream.headers['content-type']).toMatch('text/event-stream')
  expect(stream.headers['content-encoding']).toBeUndefined()
  const head = await fetch(`${shared().url}/v1/changes?${beginning}`, {
    method: 'HEAD',
    headers: { accept, authorization: `Bearer ${api.token}` },
  })
  expect(head.headers.get('content-type')).toMatch('text/event-stream')
})

test('a refusal before it begins is a problem as of any request', async () => {
  const api = await shared().newOrganization()
  const nothing = await shared().newKey(api.organizationId, ['webhooks:read'])
  for (const [path, by, status, code] of [
    ['/v1/changes', api, 400, 'invalid_parameter'],
    [`/v1/changes?${beginning}&status=new`, api, 400, 'filter_not_allowed_in_sync'],
    ['/v1/changes?cursor=no', api, 400, 'invalid_cursor'],
    [`/v1/changes?${beginning}`, nothing, 403, 'insufficient_scope'],
    ['/v1/events?types=ticket.created', nothing, 403, 'insufficient_scope'],
    ['/v1/events?cursor=no', api, 400, 'invalid_cursor'],
  ] as const) {
    const refused = await open(by, path)
    expect([refused.status, JSON.parse(await refused.text()).code]).toEqual([status, code])
    expect(refused.headers['content-type']).toMatch('application/problem+json')
  }
})

test('shows that it is alive while nothing happens', async () => {
  const api = await shared().newOrganization()
  await using stream = await open(api, `/v1/changes?${beginning}`)
  await eventOf(stream, 'page')
  await eventOf(stream, 'checkpoint')
  const next = stream.next()
  await eventually('three comments', () => stream.beats >= 3)
  const made = await makeCustomer(api)
  expect(json((await next) as ServerEvent).data).toEqual([made])
})

test('sends no page that reports nothing, but the first', async () => {
  const api = await shared().newOrganization()
  await using stream = await open(api, '/v1/events?types=ticket.created')
  expect(json(await eventOf(stream, 'page')).data).toEqual([])
  const customer = await makeCustomer(api)
  const ticket = await makeTicket(api, { customerId: customer.id })
  expect(json(await eventOf(stream, 'page')).data).toMatchObject([{ data: ticket }])
})

test('ends with the problem when its key is revoked, whether or not something happens', async () => {
  const owner = await shared().newOrganization()
  for (const happens of [true, false]) {
    const api = await shared().newKey(owner.organizationId, ['*'])
    await using stream = await open(api, `/v1/changes?${beginning}`)
    await eventOf(stream, 'page')
    await eventOf(stream, 'checkpoint')
    const { id } = (await api.get('/v1/api-keys/self')).json
    expect((await owner.delete(`/v1/api-keys/${id}`)).status).toBe(204)
    if (happens) await makeCustomer(owner)
    expect(json(await eventOf(stream, 'end'))).toMatchObject({ code: 'unauthorized', status: 401 })
    expect(await stream.next()).toBe(null)
  }
})

test('ends with the problem when its key has lost a scope or its organization is suspended', async () => {
  const owner = await shared().newOrganization()
  const api = await shared().newKey(owner.organizationId, ['customers:read', 'tickets:read'])
  const { id } = (await api.get('/v1/api-keys/self')).json
  await using stream = await open(api, `/v1/changes?${beginning}`)
  await using events = await open(api, '/v1/events?types=ticket.created')
  for (const one of [stream, events]) await eventOf(one, 'page')
  await eventOf(stream, 'checkpoint')
  await owner.patch(`/v1/api-keys/${id}`, { scopes: ['customers:read'] })
  await makeTicket(owner)
  for (const one of [stream, events])
    expect(json(await eventOf(one, 'end'))).toMatchObject({ code: 'insufficient_scope', status: 403 })
  await using other = await open(owner, `/v1/changes?${beginning}`)
  await eventOf(other, 'page')
  await eventOf(other, 'checkpoint')
  await suspendOrganization(shared().database.pool, systemClock, owner.organizationId)
  expect(json(await eventOf(other, 'end'))).toMatchObject({ code: 'insufficient_scope' })
})

test('a key has so many streams at most, and one that has ended counts no longer', async () => {
  const api = await shared().newOrganization()
  const streams = await Promise.all([1, 2, 3].map(() => open(api, `/v1/changes?${beginning}`)))
  const refused = await open(api, '/v1/events')
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
  expect(JSON.parse(await refused.text())).toMatchObject({
    code: 'rate_limited',
    detail: expect.stringContaining('streams of events'),
  })
  const key = await shared().newKey(api.organizationId, ['*'])
  await using _other = await open(key, `/v1/changes?${beginning}`)
  streams[0]?.close()
  await eventually('there is one fewer', async () => {
    await using another = await open(api, '/v1/events')
    return another.status === 200
  })
  for (const stream of streams) stream.close()
})

test('ends with a reason when it has been open for long, and when the process stops', async () => {
  await using brief = await testService({ readers: { lifetime: 200 } })
  await using first = await open(brief.api, `/v1/changes?${beginning}`, {}, brief.url)
  await eventOf(first, 'page')
  await eventOf(first, 'checkpoint')
  expect(json(await eventOf(first, 'end'))).toMatchObject({ code: 'unavailable' })
  const service = await testService()
  await using stream = await open(service.api, '/v1/events', {}, service.url)
  await eventOf(stream, 'page')
  await service[Symbol.asyncDispose]()
  expect(json(await eventOf(stream, 'end'))).toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('stopping'),
  })
  expect(await stream.next()).toBe(null)
})

test('a client that reads nothing holds one page, and is left with a reason after its time', async () => {
  await using service = await testService({ admission: { ...admissionLimits, readTimeout: 1_000 } })
  const { api } = service
  const { id: customerId } = await makeCustomer(api)
  const description = 'ü'.repeat(64_000)
  for (let n = 0; n < 150; n++) await makeTicket(api, { customerId, description })
  const { port } = new URL(service.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `GET /v1/changes?${beginning}&limit=5 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${api.token}\r\n\r\n`,
  )
  socket.pause()
  const held = async () =>
    Number(/^deskwire_http_memory_bytes\S* (\d+)$/m.exec(await service.app.metrics())?.[1])
  const isBrief = { isBrief: true }
  const most = await eventually('a page is held', async () => (await held()) || null, isBrief)
  expect(most).toBeLessThan(5 * 130_000)
  await eventually('it is left', async () => (await held()) === 0, isBrief)
  let text = ''
  for await (const piece of socket.setEncoding('utf8')) text += piece
  const pages = text.match(/^event: page$/gm)?.length ?? 0
  expect(pages).toBeLessThan(30)
  expect(text.slice(-400)).toMatch(/^event: end\ndata: .*"detail":"Nothing of the stream was read/m)
})

test('a browser reads it with the token of a session that may read, in the address', async () => {
  const api = await shared().newOrganization()
  const sessionWith = async (scopes: readonly string[]) => {
    const { json: link } = await api.post('/v1/console-links', { scopes, expiresIn: 60 })
    const [, secret] = link.url.split('#link=')
    return (await api.post('/v1/console-links/exchange', { link: secret })).json
  }
  const reading = await sessionWith(['customers:read'])
  const made = await makeCustomer(api)
  const path = `${shared().url}/v1/changes?${beginning}&session=`
  await using stream = await openEvents(path + reading.token)
  expect(json(await eventOf(stream, 'page')).data).toEqual([made])
  await eventOf(stream, 'checkpoint')
  await using events = await openEvents(`${shared().url}/v1/events?session=${reading.token}`)
  expect(events.status).toBe(200)
  await api.delete(`/v1/console-links/${reading.id}`)
  expect(json(await eventOf(stream, 'end'))).toMatchObject({ code: 'unauthorized' })

  const writing = await sessionWith(['customers:read', 'customers:write'])
  const forbidden = await openEvents(path + writing.token)
  expect([forbidden.status, JSON.parse(await forbidden.text()).code]).toEqual([403, 'insufficient_scope'])
  for (const session of [api.token, 'dws_x', '']) {
    const refused = await openEvents(path + session)
    expect([refused.status, JSON.parse(await refused.text()).code]).toEqual([401, 'unauthorized'])
  }
  const asJson = await openEvents(path + reading.token, { accept: 'application/json' })
  expect(asJson.status).toBe(401)
  const elsewhere = await openEvents(`${shared().url}/v1/customers?${beginning}&session=${reading.token}`)
  expect(elsewhere.status).toBe(401)
})
