/** Large answers are sent compressed to whoever accepts it; what is small, tagged or secret, and answers to writes, are not. */
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { compressedFrom } from '../../src/http/compression.ts'

let service: TestService

beforeAll(async () => {
  service = await testService()
  const items = Array.from({ length: 100 }, (_, n) => ({ name: `Customer ${n}`, company: 'x'.repeat(200) }))
  expect((await service.api.post('/v1/customers/batch', { items })).json.created).toBe(100)
  const { id: customerId } = (await service.api.post('/v1/customers', { name: 'Owner' })).json
  const tickets = Array.from({ length: 100 }, (_, n) => ({
    customerId,
    subject: `Ticket ${n}`,
    description: `${n} ${'words, '.repeat(300)}`,
  }))
  expect((await service.api.post('/v1/tickets/batch', { items: tickets })).json.created).toBe(100)
})

afterAll(() => service[Symbol.asyncDispose]())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

/** As the bytes come: fetch would take them apart. */
function get(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: object,
): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const json = body === undefined ? undefined : JSON.stringify(body)
  const own = {
    authorization: `Bearer ${service.api.token}`,
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  }
  const sent = request(service.url + path, { method, headers: own, agent: false }, async (response) => {
    const pieces: Buffer[] = []
    for await (const piece of response) pieces.push(piece)
    resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(pieces) })
  })
  sent.once('error', reject).end(json)
  return promise
}

const codings = [
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const
const large = [
  '/v1/customers?limit=100',
  '/v1/customers?limit=100&updatedAfter=1970-01-01T00:00:00Z',
  '/v1/changes?limit=100&updatedAfter=1970-01-01T00:00:00Z',
  // Of this a thread makes pieces.
  '/v1/tickets?limit=100',
  '/v1/customers/export',
]

describe.each(large)('%s', (path) => {
  test.each(codings)('is sent as %s, and is the same', async (coding, decoded) => {
    const plain = await get(path)
    expect(plain.bytes.length).toBeGreaterThan(compressedFrom)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    // Changes are also a stream of events, where that is asked for.
    const vary = path.startsWith('/v1/changes') ? 'Accept, Accept-Encoding' : 'Accept-Encoding'
    expect(plain.headers.vary).toBe(vary)
    const compressed = await get(path, { 'accept-encoding': coding })
    expect(compressed.headers).toMatchObject({ 'content-encoding': coding, vary })
    expect(compressed.headers['content-type']).toBe(plain.headers['content-type'])
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 4)
    expect(decoded(compressed.bytes).toString() === plain.bytes.toString()).toBe(true)
  })
})

test('what a client does not want, or weighs as nothing, it does not get', async () => {
  for (const accepted of ['identity', 'deflate', 'br;q=0', 'gzip;q=0, br;q=0.0', 'zstd']) {
    const { headers, bytes } = await get('/v1/customers?limit=100', { 'accept-encoding': accepted })
    expect(headers).not.toHaveProperty('content-encoding')
    expect(headers['content-length']).toBe(String(bytes.length))
  }
})

describe('nothing is compressed', () => {
  const accepting = { 'accept-encoding': 'br, gzip' }

  test('of what is small', async () => {
    expect((await get('/v1/customers?limit=1', accepting)).headers).not.toHaveProperty('content-encoding')
  })

  test('that has the tag of a version, which If-Match takes back', async () => {
    const conversation = (await service.api.post('/v1/customers', { name: 'Tagged' })).json.id
    const ticket = { customerId: conversation, subject: 'Long', description: 'd'.repeat(40_000) }
    const { id } = (await service.api.post('/v1/tickets', ticket)).json
    const read = await get(`/v1/tickets/${id}`, accepting)
    expect(read.bytes.length).toBeGreaterThan(40_000)
    expect(read.headers).not.toHaveProperty('content-encoding')
    const changed = { 'if-match': String(read.headers.etag) }
    expect((await service.api.patch(`/v1/tickets/${id}`, { subject: 'Longer' }, changed)).status).toBe(200)
  })

  test('of answers to writes, whatever they hold', async () => {
    const items = Array.from({ length: 300 }, (_, n) => ({ externalId: `again-${n}`, name: 'Again' }))
    const batch = await get('/v1/customers/batch', accepting, 'POST', { operation: 'upsert', items })
    expect(batch.bytes.length).toBeGreaterThan(compressedFrom)
    expect(batch.headers).not.toHaveProperty('content-encoding')
    const key = await get('/v1/api-keys', accepting, 'POST', {
      name: 'k'.repeat(255),
      scopes: ['customers:read'],
    })
    expect(key.status).toBe(201)
    expect(key.headers).not.toHaveProperty('content-encoding')
  })

  test('of refusals', async () => {
    const wrong = Object.fromEntries(
      Array.from({ length: 150 }, (_, n) => [`field${n}${'x'.repeat(100)}`, 1]),
    )
    const refused = await get('/v1/customers', accepting, 'POST', wrong)
    expect(refused.status).toBe(422)
    expect(refused.bytes.length).toBeGreaterThan(compressedFrom)
    expect(refused.headers).not.toHaveProperty('content-encoding')
  })
})

async function answerBytes(): Promise<number> {
  const text = await service.app.register.getSingleMetricAsString('deskwire_http_memory_bytes')
  return Number(/ (\d+)$/m.exec(text)?.[1])
}

test('whoever leaves in the middle holds nothing, and the others are answered', async () => {
  await Promise.all(
    Array.from({ length: 40 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const headers = { authorization: `Bearer ${service.api.token}`, 'accept-encoding': 'br' }
      const sent = request(`${service.url}/v1/customers/export`, { headers, agent: false }, (response) => {
        response.destroy()
        resolve()
      })
      sent.once('error', () => resolve()).end()
      return promise
    }),
  )
  await eventually('all is given back', async () => (await answerBytes()) === 0)
  const { headers } = await get('/v1/customers?limit=100', { 'accept-encoding': 'br' })
  expect(headers['content-encoding']).toBe('br')
})

test('whoever leaves before the answer is made holds nothing', async () => {
  const lock = await service.database.pool.connect()
  await lock.query('begin')
  await lock.query('lock table tickets')
  const headers = { authorization: `Bearer ${service.api.token}`, 'accept-encoding': 'br' }
  const asked = Array.from({ length: 20 }, () => {
    const sent = request(`${service.url}/v1/tickets?limit=100`, { headers, agent: false })
    return sent.once('error', () => {}).end()
  })
  const underWay = async () => {
    const text = await service.app.register.getSingleMetricAsString('deskwire_http_requests_under_way')
    return Number(/ (\d+)$/m.exec(text)?.[1])
  }
  await eventually('all are asked', async () => (await underWay()) === asked.length)
  for (const sent of asked) sent.destroy()
  // Those whose statement hangs hold what they hold until it ends.
  await eventually('those that wait have left', async () => (await underWay()) < asked.length / 2)
  await lock.query('rollback')
  lock.release()
  await eventually('all have left', async () => (await underWay()) === 0)
  const answered = await get('/v1/tickets?limit=100', { 'accept-encoding': 'br' })
  expect(answered.headers['content-encoding']).toBe('br')
  await eventually('all is given back', async () => (await answerBytes()) === 0)
})

describe('openapi.json', () => {
  test('has a tag for each coding, which names the bytes', async () => {
    const accepts = ['identity', 'gzip', 'br']
    const got = await Promise.all(
      accepts.map((accepted) => get('/openapi.json', { 'accept-encoding': accepted })),
    )
    const [plain, gzipped, brotli] = got as [Got, Got, Got]
    expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true)
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
    expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 10)
    const tags = got.map(({ headers }) => String(headers.etag))
    expect(new Set(tags).size).toBe(3)
    for (const [n, accepted] of accepts.entries()) {
      const statuses = await Promise.all(
        tags.map(async (tag) => {
          const asked = { 'accept-encoding': accepted, 'if-none-match': tag }
          return (await get('/openapi.json', asked)).status
        }),
      )
      expect(statuses).toEqual(accepts.map((_, other) => (other === n ? 304 : 200)))
    }
    for (const { headers } of got) expect(headers.vary).toBe('Accept-Encoding')
  })

  test('has its length, compressed or not, for HEAD too', async () => {
    for (const accepted of ['identity', 'gzip', 'br']) {
      const asked = { 'accept-encoding': accepted }
      const [whole, head] = await Promise.all([
        get('/openapi.json', asked),
        get('/openapi.json', asked, 'HEAD'),
      ])
      expect(whole.headers['content-length']).toBe(String(whole.bytes.length))
      expect(head.headers).toMatchObject({
        'content-length': whole.headers['content-length'],
        etag: whole.headers.etag,
      })
    }
  })
})
