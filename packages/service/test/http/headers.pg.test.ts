/** What every answer below /v1 says to caches and browsers, over every route that the server has (specification 1.2). */
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { receiverUrl } from '../../../testbed/hooks.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { rawRequest } from '../../../testbed/raw-request.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService({ rateLimit: { perSecond: 100_000, burst: 100_000 } })

const said = ({ status, headers }: Pick<Answer, 'status' | 'headers'>) => ({
  status,
  cacheControl: headers.get('cache-control'),
  contentTypeOptions: headers.get('x-content-type-options'),
})

function expectSaid(answer: Answer, status: number, cacheControl = 'private, no-cache'): void {
  expect(said(answer)).toEqual({ status, cacheControl, contentTypeOptions: 'nosniff' })
}

/** Every address below /v1 with ids that nobody has, and the methods that it takes. */
const addresses = () =>
  [...shared().app.routes].flatMap(([url, methods]) =>
    url.startsWith('/v1/')
      ? [{ path: url.replaceAll(/:\w+/g, '01980000-0000-7000-8000-000000000001'), methods }]
      : [],
  )

test('every method of every address, with a key, without one and with a wrong one', async () => {
  const { url, api } = shared()
  let asked = 0
  for (const { path, methods } of addresses()) {
    for (const method of new Set([...methods, 'PUT', 'OPTIONS'])) {
      for (const authorization of [`Bearer ${api.token}`, undefined, 'Bearer nothing']) {
        const answer = await rawRequest(
          url + path,
          method,
          authorization === undefined ? {} : { authorization },
        )
        const expected = methods.has(method) ? answer.status : 405
        expectSaid(answer, expected)
        if (expected === 405) expect(answer.headers.get('allow')).toBe([...methods].sort().join(', '))
        if (authorization !== undefined && methods.has(method)) expect(answer.status).not.toBe(405)
        asked++
      }
    }
  }
  expect(asked).toBeGreaterThan(300)
})

test('what is sent of objects, and that they did not change', async () => {
  const { api } = shared()
  const created = await api.post('/v1/customers', { name: 'Ada' })
  expectSaid(created, 201)
  const path = created.headers.get('location') ?? ''
  const read = await api.get(path)
  expectSaid(read, 200)
  expectSaid(await api.get(path, { 'if-none-match': read.headers.get('etag') ?? '' }), 304)
  expectSaid(await api.get('/v1/customers'), 200)
  expectSaid(await api.get('/v1/customers/export'), 200)
  expectSaid(await api.get('/v1/changes?updatedAfter=2000-01-01T00:00:00Z'), 200)
  expectSaid(await api.patch(path, { name: 'Grace' }, { 'if-match': '"no"' }), 412)
  expectSaid(await api.delete(path), 204)
})

test.each<[string, number, string, string, Record<string, string>, string?]>([
  ['an address that is not there', 404, 'GET', '/v1/nothing', {}],
  ['/v1 itself', 404, 'GET', '/v1', {}],
  ['an address that is written with escapes', 404, 'GET', '/%76%31/customers', {}],
  ['an address that cannot be decoded', 400, 'GET', '/v1/customers/%zz', {}],
  ['a very long address', 404, 'GET', `/v1/customers/${'x'.repeat(300)}`, {}],
  ['a body that is no JSON', 400, 'POST', '/v1/customers', { 'content-type': 'application/json' }, '{'],
  ['a body of another type', 415, 'POST', '/v1/customers', { 'content-type': 'text/plain' }, 'x'],
  [
    'a body that is too large',
    413,
    'POST',
    '/v1/customers',
    { 'content-type': 'application/json' },
    ' '.repeat(2 ** 20 + 1),
  ],
])('%s', async (_what, status, method, path, headers, body) => {
  const authorization = `Bearer ${shared().api.token}`
  expectSaid(await rawRequest(shared().url + path, method, { authorization, ...headers }, body), status)
})

test.each([
  ['is no HTTP', 'nonsense\r\n\r\n', 400],
  [
    'has headers that are too large',
    `GET /v1/customers HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
])('what %s, whatever it was for', async (_what, sent, status) => {
  const socket = connect(Number(new URL(shared().url).port), '127.0.0.1')
  socket.write(sent)
  let text = ''
  for await (const chunk of socket) text += chunk
  const [head = ''] = text.split('\r\n\r\n')
  const [first, ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]))
  expect(first).toContain(` ${status} `)
  expectSaid({ status, headers } as Answer, status)
})

test('an answer with a token or a secret is kept by nobody, nor is its replay', async () => {
  const api = await shared().newOrganization()
  const webhook = { url: receiverUrl, events: ['customer.created'] }
  const once: readonly (readonly [path: (api: Api) => Promise<string>, body: object | undefined])[] = [
    [async () => '/v1/api-keys', { name: 'Key', scopes: ['customers:read'] }],
    [async () => `/v1/api-keys/${(await makeKey(api)).id}/rotate`, undefined],
    [async () => '/v1/webhooks', webhook],
    [
      async () => `/v1/webhooks/${(await api.post('/v1/webhooks', webhook)).json.id}/rotate-secret`,
      undefined,
    ],
  ]
  for (const [pathOf, body] of once) {
    const path = await pathOf(api)
    const headers = { 'idempotency-key': randomUUID() }
    for (const replayed of [null, 'true']) {
      const answer = await api.post(path, body, headers)
      expect(answer.headers.get('idempotent-replayed')).toBe(replayed)
      expect(answer.json.token ?? answer.json.secret).toBeTypeOf('string')
      expectSaid(answer, path.split('/').length === 3 ? 201 : 200, 'no-store')
    }
  }
  const { id } = (await api.get('/v1/api-keys')).json.data[0]
  expectSaid(await api.get(`/v1/api-keys/${id}`), 200)
})

test.each(['Authorization', 'Content-Type', 'Host', 'Idempotency-Key'])(
  'refuses two lines of %s',
  async (name) => {
    const { api, url } = shared()
    const headers: Record<string, string> = {
      Authorization: `Bearer ${api.token}`,
      'Content-Type': 'application/json',
      Host: new URL(url).host,
      'Idempotency-Key': randomUUID(),
    }
    const lines = [...Object.entries(headers), [name.toLowerCase(), headers[name] as string]].flat()
    const body = '{"name":"Ada"}'
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const length = ['Content-Length', String(body.length)]
      const sent = request(`${url}/v1/customers`, { method: 'POST', headers: [...lines, ...length] })
      sent.on('response', async (response) => {
        resolve({ status: response.statusCode, text: Buffer.concat(await response.toArray()).toString() })
      })
      sent.on('error', reject)
      sent.end(body)
    })
    expect(answer).toMatchObject({
      status: 400,
      text: expect.stringContaining(`${name} is sent more than once`),
    })
  },
)

const unreadable: readonly (readonly [name: string, request: string, detail: RegExp])[] = [
  ['another version', 'GET /v1/customers HTTP/2.0\r\nHost: x\r\n\r\n', /HTTP\/1\.1; got the version 2\.0/],
  ['no version', 'GET /v1/customers\r\n\r\n', /HTTP\/1\.1; got the version 0\.9/],
  ['no host', 'GET /v1/customers HTTP/1.1\r\n\r\n', /has no Host header/],
  [
    'another expectation',
    'GET /v1/customers HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n',
    /Expect: 100-continue/,
  ],
  ...['gzip, chunked', 'identity, chunked', 'chunked, chunked', 'xchunked'].map(
    (coding) =>
      [
        `the coding ${coding}`,
        `POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`,
        /Transfer-Encoding: chunked|not valid HTTP/,
      ] as const,
  ),
]

test.each(unreadable)('refuses %s in words, and closes the connection', async (_, bytes, detail) => {
  const text = await allAnswered(bytes)
  expect(statusesOf(text)).toEqual([400])
  const answered = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
  expect(answered.detail).toMatch(detail)
})

test('a request keeps its response when what follows it is no request', async () => {
  const { api } = shared()
  const { length } = (await api.get('/v1/customers?limit=100')).json.data
  const body = '{"name":"Ada"}'
  const head = `POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json\r\n`
  const text = await allAnswered(`${head}Content-Length: ${body.length}\r\n\r\n${body}more than its length`)
  expect(statusesOf(text)).toEqual([201])
  expect(text).toMatch(/^connection: close\r$/im)
  expect((await api.get('/v1/customers?limit=100')).json.data).toHaveLength(length + 1)
})

/** Sends bytes, and returns all that comes until the service closes the connection. */
async function allAnswered(bytes: string): Promise<string> {
  const { hostname, port } = new URL(shared().url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  return Buffer.concat(await socket.toArray()).toString()
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
