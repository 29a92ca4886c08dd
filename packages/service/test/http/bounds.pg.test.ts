/** What is too deep, too long or no HTTP is refused as everything else is: as a problem, and without harm. */
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { rawRequest } from '../../../testbed/raw-request.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { brokenRequest } from '../../src/http/problem-reply.ts'
import { countJson, deepestNesting } from '../../src/http/read-body.ts'
import { errorCatalogue } from '../../src/kernel/error-catalogue.ts'

const shared = sharedService()
const nested = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels)

describe('nesting', () => {
  test('is taken to its limit and refused beyond, whatever stands in texts', async () => {
    const { api } = shared()
    const post = (value: string) => api.post('/v1/customers', `{"name":"x","customAttributes":${value}}`)
    // Within the limit it is the field that is wrong.
    expect((await post(nested(deepestNesting - 1))).json.code).toBe('validation_failed')
    for (const tooDeep of [nested(deepestNesting), nested(200_000), '{"a":'.repeat(70_000)]) {
      const refused = await post(tooDeep)
      expect([refused.status, refused.json.code]).toEqual([400, 'malformed_json'])
      expect(refused.json.detail).toContain(String(deepestNesting))
    }
    const text = JSON.stringify(`"\\${'['.repeat(100)}`)
    expect((await api.post('/v1/customers', `{"name":${text}}`)).status).toBe(201)
  })

  test('is that of the JSON, not of its texts', () => {
    const deep = (json: string) => countJson(Buffer.from(json)).tooDeep
    expect(deep(nested(deepestNesting))).toBe(false)
    expect(deep(nested(deepestNesting + 1))).toBe(true)
    expect(deep(`{"a":"${'['.repeat(1_000)}"}`)).toBe(false)
    expect(deep(`{"a":"\\"${'{'.repeat(1_000)}"}`)).toBe(false)
    expect(deep(`{"a":"\\\\",${nested(1_000)}`)).toBe(true)
    expect(deep(`[${'[],'.repeat(10_000)}[]]`)).toBe(false)
    expect(deep(`"ü[${'['.repeat(1_000)}"`)).toBe(false)
  })
})

test('a refusal is short, however many or long the names are that it is about', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name${n}`, 1]))
  const unstorable = { ['x'.repeat(100_000)]: Array(50).fill('\0') }
  for (const [path, body, named] of [
    ['/v1/messages', { attachments: [unknown] }, '"name9" and 19990 more'],
    ['/v1/customers', unstorable, 'U+0000'],
  ] as const) {
    const { status, text } = await shared().api.post(path, body)
    expect([status, text.length < 10_000]).toEqual([422, true])
    expect(JSON.stringify(JSON.parse(text).errors.map(({ detail }: { detail: string }) => detail))).toContain(
      JSON.stringify(named).slice(1, -1),
    )
  }
})

describe('address and headers', () => {
  test('of more than 16 KiB are 431, wherever they are too long', async () => {
    const { url, api } = shared()
    const authorization = `Bearer ${api.token}`
    for (const answer of [
      await rawRequest(`${url}/v1/customers?q=${'x'.repeat(17_000)}`, 'GET', { authorization }),
      await rawRequest(`${url}/v1/customers`, 'GET', { authorization, 'x-long': 'x'.repeat(17_000) }),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([431, 'headers_too_large'])
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      expect(answer.json.detail).toContain('16 KiB')
      expect(answer.json.requestId).toBe(answer.headers.get('x-request-id'))
    }
    const long = await rawRequest(`${url}/v1/customers?q=${'x'.repeat(8_000)}`, 'GET', { authorization })
    expect(long.status).toBeLessThan(431)
  })
})

/** What comes back for these bytes, until the other side closes. */
function send(bytes: string): Promise<string> {
  const { port } = new URL(shared().url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

test.each([
  'hello\r\n\r\n',
  'GET / HTTP/1.1\r\nHost x\r\n\r\n',
  'POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
])('what is no HTTP is a problem and the end of the connection: %j', async (bytes) => {
  const [head = '', body = ''] = (await send(bytes)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(head).toMatch(/content-type: application\/problem\+json/)
  const { status, title } = errorCatalogue.malformed_request
  expect(JSON.parse(body)).toMatchObject({ type: '/docs/errors/malformed_request', title, status })
  expect(head).toContain(`x-request-id: ${JSON.parse(body).requestId}`)
})

test('a request that arrives too slowly is ended, and told so', () => {
  expect(shared().app.server.server.requestTimeout).toBe(60_000)
  const refusal = brokenRequest('ERR_HTTP_REQUEST_TIMEOUT')
  expect([refusal.code, errorCatalogue[refusal.code].status]).toEqual(['request_timeout', 408])
})

test('a parameter that is given twice is refused on every list', async () => {
  const { api } = shared()
  for (const list of ['customers', 'tickets', 'teammates', 'webhooks', 'api-keys']) {
    const refused = await api.get(`/v1/${list}?limit=1&limit=2`)
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_parameter'])
    expect(refused.json.detail).toContain('limit')
  }
})
