/** One organization does all it can; another is answered, and what the first asked for is done as well. */
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'

/** Reads, lists and writes of somebody who has nothing to do with it. */
async function ordinary(api: Api): Promise<void> {
  const { id } = await makeCustomer(api)
  expect((await api.patch(`/v1/customers/${id}`, { name: 'Changed' })).status).toBe(200)
  expect((await api.get('/v1/customers?q=changed')).json.pagination.total).toBe(1)
  expect((await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z')).json.data).toHaveLength(1)
  const webhook = await makeWebhook(api)
  expect((await api.post(`/v1/webhooks/${webhook.id}/ping`, undefined)).status).toBe(202)
  expect((await api.post('/v1/api-keys', { name: 'k', scopes: ['customers:read'] })).status).toBe(201)
}

async function figure(service: TestService, name: string): Promise<number> {
  const text = await service.app.register.getSingleMetricAsString(name)
  const [, value] = new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text) ?? []
  return Number(value)
}

describe('while somebody holds the clock of an organization', () => {
  test('others are answered though it pings and makes keys from forty hands, and then all of that is done', async () => {
    await using service = await testService()
    const { api, database } = service
    const webhook = await makeWebhook(api)
    const other = await service.newOrganization()
    const lock = await lockRow(database, 'organization_clocks', api)
    const asked = Array.from({ length: 40 }, (_, n) =>
      n % 2 === 0
        ? api.post(`/v1/webhooks/${webhook.id}/ping`, undefined)
        : api.post('/v1/api-keys', { name: `key ${n}`, scopes: ['customers:read'] }),
    )
    // And changes of its stream beside them, small ones and such as reach far.
    const changed = [...Array(10)].map((_, n) => api.post('/v1/customers', { name: `c${n}` }))
    const items = [...Array(50)].map((_, n) => ({ name: `b${n}` }))
    const batches = [1, 2].map(() => api.post('/v1/customers/batch', { items }))
    await eventually('all wait', () => service.app.pending() >= 52)
    for (let n = 0; n < 3; n++) await ordinary(n === 0 ? other : await service.newOrganization())
    expect(service.app.pending()).toBeGreaterThanOrEqual(52)
    await lock.release()
    const statuses = (answers: readonly { readonly status: number }[]) =>
      [...new Set(answers.map(({ status }) => status))].sort()
    expect(statuses(await Promise.all(asked))).toEqual([201, 202])
    expect(statuses(await Promise.all(changed))).toEqual([201])
    expect(statuses(await Promise.all(batches))).toEqual([200])
  })
})

describe('clients that disconnect', () => {
  test('have no change made that still waits for its turn to commit', async () => {
    await using service = await testService()
    const { api, database } = service
    const { hostname, port } = new URL(service.url)
    await using lock = await lockRow(database, 'organization_clocks', api)
    const body = '{"name":"left"}'
    const head = ['POST /v1/customers HTTP/1.1', 'Host: x', `Authorization: Bearer ${api.token}`]
    const more = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', body]
    const sockets: Socket[] = []
    // One after the other: what comes together commits together.
    for (let n = 1; n <= 6; n++) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      socket.write([...head, ...more].join('\r\n'))
      sockets.push(socket)
      await eventually('it waits', () => service.app.pending() === n)
    }
    for (const socket of sockets) socket.destroy()
    await eventually('those that wait have left', () => service.app.pending() <= 2)
    const underWay = service.app.pending()
    await lock.release()
    await eventually('all is done', () => service.app.pending() === 0)
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(underWay)
  })
})

describe('while all statements of an organization hang', () => {
  test('others are answered, and then it is too', async () => {
    await using service = await testService()
    const { api, database } = service
    const other = await service.newOrganization()
    const lock = await lockRow(database, 'organizations', api)
    const asked = Array.from({ length: 40 }, (_, n) => api.patch('/v1/organization', { name: `Name ${n}` }))
    await eventually(
      'its share is in use',
      async () => (await figure(service, 'deskwire_statements_waiting')) > 20,
    )
    expect(await figure(service, 'deskwire_statements_under_way')).toBeLessThan(9)
    await ordinary(other)
    await lock.release()
    // Those that lost each of ten races are told to try again, as ever.
    for (const { status } of await Promise.all(asked)) expect([200, 503]).toContain(status)
    expect(await figure(service, 'deskwire_statements_waiting')).toBe(0)
  })
})

describe('bodies', () => {
  const mebibyte = 1024 * 1024
  const large = 16 * mebibyte

  /** Sends the head of a batch of 16 MiB, and a little of it. */
  async function slowBatch(service: TestService, { token }: Api): Promise<Socket> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const head = ['POST /v1/customers/batch HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`]
    const more = ['Content-Type: application/json', `Content-Length: ${large}`, '', '{"items":[']
    await new Promise<void>((resolve) => socket.write([...head, ...more].join('\r\n'), () => resolve()))
    return socket
  }

  test('sixty slow ones hold a share, and leave room for small ones and for a large one of somebody else', async () => {
    await using service = await testService()
    const { api } = service
    const another = await service.newKey(api.organizationId, ['*'])
    const other = await service.newOrganization()
    const sockets = await Promise.all(
      Array.from({ length: 60 }, (_, n) => slowBatch(service, n % 2 === 0 ? api : another)),
    )
    const held = () => figure(service, 'deskwire_http_memory_bytes')
    await eventually(
      'all have come',
      async () => (await figure(service, 'deskwire_http_requests_under_way')) === 60,
    )
    // An organization holds as much as remains free.
    expect(await held()).toBe(large)
    expect(await figure(service, 'deskwire_http_requests_waiting')).toBe(59)
    await ordinary(api)
    await ordinary(other)
    // Room within items is theirs, and there is no room for that much beside them.
    const item = `${'{"name":"large"'.padEnd(mebibyte - 16, ' ')}}`
    const batch = `{"items":[${Array(16).fill(item).join(',')}]}`
    expect((await other.post('/v1/customers/batch', batch)).status).toBe(200)
    expect(await held()).toBe(large)
    for (const socket of sockets) socket.destroy()
    await eventually('all is given back', async () => (await held()) === 0)
    expect((await api.post('/v1/customers/batch', batch)).status).toBe(200)
    expect(await figure(service, 'deskwire_http_requests_waiting')).toBe(0)
  })

  test('one that does not say how long it is counts as the longest, and is read', async () => {
    await using service = await testService()
    const { api } = service
    const pieces = async function* () {
      yield Buffer.from('{"name":"')
      for (let n = 0; n < 3; n++) yield Buffer.from(' '.repeat(50_000))
      yield Buffer.from('Ada"}')
    }
    const answer = await fetch(`${service.url}/v1/customers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: pieces(),
      duplex: 'half',
    } as RequestInit)
    // It was understood: a name may not be that long.
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      422,
      'validation_failed',
    ])
    expect(await figure(service, 'deskwire_http_memory_bytes')).toBe(0)
  })
})
