/** What the service believes of where a request came from and went to: limits, absolute URLs and HSTS follow from it. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { rawRequest } from '../../../testbed/raw-request.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { unauthenticatedLimit } from '../../src/admission/rate-limit.ts'
import { newToken } from '../../src/auth/token.ts'
import { handleOffloaded } from '../../src/http/offload.ts'
import { parseNetworks } from '../../src/kernel/networks.ts'

const loopback = parseNetworks('127.0.0.0/8')
if (loopback === undefined) throw new Error('the loopback is not read')

test.each([
  { who: 'a trusted proxy', trusted: true },
  { who: 'an untrusted one', trusted: false },
])(
  '$who says where unknown tokens come from, and a good one counts only until it is known',
  async ({ trusted }) => {
    const clock = testClock()
    await using service = await testService({ clock, ...(trusted && { trustedProxies: loopback }) })
    const call = async (token: string, from: string) => {
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from }
      return service.app.server.inject({ url: '/v1/customers', headers })
    }
    const known = await service.newKey(service.api.organizationId, ['*'])
    expect((await call(known.token, '203.0.113.9')).statusCode).toBe(200)
    const { burst } = unauthenticatedLimit
    const flood = await Promise.all(
      Array.from({ length: burst + 50 }, () => call(newToken(), '198.51.100.7')),
    )
    const refused = flood.filter(({ statusCode }) => statusCode === 429)
    expect(refused).toHaveLength(50)
    expect(flood.filter(({ statusCode }) => statusCode === 401)).toHaveLength(burst)
    expect([refused[0]?.headers['retry-after'], refused[0]?.json().code]).toEqual(['1', 'rate_limited'])
    // A key that this process knows passes wherever it comes from.
    expect((await call(known.token, '198.51.100.7')).statusCode).toBe(200)
    // A good one that it does not know yet is told apart by its own address alone.
    expect((await call(service.api.token, '203.0.113.9')).statusCode).toBe(trusted ? 200 : 429)
    clock.advance(1_000)
    expect((await call(service.api.token, '198.51.100.7')).statusCode).toBe(200)
  },
)

type Sent = Readonly<Record<string, string | string[]>>

/** What the URL of a new console link begins with. */
async function originOf({ url, api }: TestService, sent: Sent = {}, padding = ''): Promise<string> {
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json', ...sent }
  const body = `{"scopes":["customers:read"]${padding}}`
  const { status, json, text } = await rawRequest(`${url}/v1/console-links`, 'POST', headers, body)
  expect(status, `${JSON.stringify(sent)}: ${text}`).toBe(201)
  return json.url.split('/console#link=')[0]
}

const forwarded = (proto: string | string[], host: string | string[] = 'desk.example'): Sent => ({
  'x-forwarded-proto': proto,
  'x-forwarded-host': host,
})

/** What a client may send, where a proxy passes it on. */
const hostileSchemes = ['ftp', 'javascript', 'https, http', 'https,', 'https://x', '', 'https:']
const hostileHosts = [
  'evil.example/path',
  'a@evil.example',
  'evil.example#a',
  'evil.example?a',
  'evil .example',
  'desk.example, evil.example:',
  'evil.example:99999',
  'evil.example:',
  '[::1',
  '999.1.1.1',
  '"><script>',
  'evil.example\\a',
  '-evil.example',
  'évil.example',
  '%65vil.example',
  '*.example',
  '',
]

test('a console link has the scheme and host of a trusted proxy, and of nobody else', async () => {
  await using behind = await testService({ trustedProxies: loopback })
  expect(await originOf(behind, forwarded('https'))).toBe('https://desk.example')
  expect(await originOf(behind, forwarded('https', 'desk.example:443'))).toBe('https://desk.example')
  expect(await originOf(behind, forwarded('https', 'desk_1.example:8443'))).toBe(
    'https://desk_1.example:8443',
  )
  expect(await originOf(behind, forwarded('http', '[2001:db8::1]:80'))).toBe('http://[2001:db8::1]')
  expect(await originOf(behind, { 'x-forwarded-proto': 'https', host: 'desk.example' })).toBe(
    'https://desk.example',
  )
  for (const scheme of [...hostileSchemes, ['https', 'ftp']])
    expect(await originOf(behind, forwarded(scheme))).toBe('http://desk.example')
  for (const host of [...hostileHosts, ['desk.example', '*.example']])
    expect(await originOf(behind, forwarded('https', host))).toBe(behind.url.replace('http:', 'https:'))

  await using open = await testService({ trustedProxies: parseNetworks('192.0.2.0/24') ?? loopback })
  expect(await originOf(open, forwarded('https'))).toBe(open.url)
})

test('of a list, the entry of the outermost trusted proxy counts', async () => {
  const trustedProxies = parseNetworks('127.0.0.0/8,10.0.0.0/8') ?? loopback
  await using service = await testService({ trustedProxies })
  const cases: [clients: string, proto: string | string[], host: string | string[], origin: string][] = [
    ['', 'HTTPS', 'DESK.example', 'https://desk.example'],
    // One proxy is trusted: what it appended counts.
    ['203.0.113.9', 'ftp, https', 'evil.example, desk.example', 'https://desk.example'],
    ['203.0.113.9', ['http', 'https'], ['evil.example', 'desk.example'], 'https://desk.example'],
    ['203.0.113.9, 192.0.2.1', 'https, http', 'evil.example,desk.example', 'http://desk.example'],
    // Two are trusted, and the outer one knows what the client called.
    ['203.0.113.9, 10.0.0.1', 'https, http', 'desk.example, inner:8080', 'https://desk.example'],
    ['203.0.113.9, 10.0.0.1', ['https', 'http'], ['desk.example', 'inner'], 'https://desk.example'],
    [
      '1.1.1.1, 203.0.113.9, 10.0.0.1',
      'ftp , https , http',
      'evil,desk.example,inner',
      'https://desk.example',
    ],
    ['203.0.113.9, 10.0.0.1', 'https', 'desk.example', 'https://desk.example'],
  ]
  for (const [clients, proto, host, origin] of cases) {
    const sent = { 'x-forwarded-for': clients, ...forwarded(proto, host) }
    expect([sent, await originOf(service, sent)]).toEqual([sent, origin])
  }
})

test('with a public URL a console link begins with it, whatever a request says', async () => {
  const publicUrl = 'https://desk.example:8443'
  await using service = await testService({ publicUrl, trustedProxies: loopback })
  for (const sent of [{}, { host: 'evil.example' }, forwarded('http', 'evil.example'), forwarded('ftp')])
    expect(await originOf(service, sent)).toBe(publicUrl)
})

test('the thread that a request is offloaded to makes the same URLs', async () => {
  const padding = ' '.repeat(33 * 1024)
  await using offloaded = await testService({ role: 'offload' })
  const { database } = offloaded
  const offload = (request: Parameters<typeof handleOffloaded>[1]) =>
    handleOffloaded(offloaded.app.server, request)
  const cases = [
    { options: { publicUrl: 'https://desk.example:8443' }, origin: 'https://desk.example:8443' },
    { options: { trustedProxies: loopback }, origin: 'https://evil.example' },
    { options: {}, origin: null },
  ]
  for (const { options, origin } of cases) {
    await using service = await testService({ database, offload, ...options })
    const sent = forwarded('https', 'evil.example')
    expect(await originOf(service, sent, padding)).toBe(origin ?? service.url)
  }
})

test('what was reached by https says so to browsers (HSTS), and nothing else does', async () => {
  const all = ['/console', '/healthz', '/nowhere', '/%zz', '/v1/customers']
  const saidBy = async (service: TestService, sent: Sent = {}, paths = ['/healthz']) => {
    const said = new Set<string | null>()
    for (const path of paths) {
      const { headers } = await rawRequest(service.url + path, 'GET', sent)
      said.add(headers.get('strict-transport-security'))
    }
    return [...said]
  }
  const year = 'max-age=31536000'
  await using secure = await testService({ publicUrl: 'https://desk.example' })
  expect(await saidBy(secure, {}, all)).toEqual([year])
  await using plain = await testService({ publicUrl: 'http://desk.example', trustedProxies: loopback })
  expect(await saidBy(plain, forwarded('https'))).toEqual([null])
  await using behind = await testService({ trustedProxies: loopback })
  expect(await saidBy(behind, forwarded('https'))).toEqual([year])
  for (const scheme of ['http', ...hostileSchemes])
    expect(await saidBy(behind, forwarded(scheme))).toEqual([null])
  await using open = await testService()
  expect(await saidBy(open, forwarded('https'))).toEqual([null])
})

test('a Host that is no host is refused, and none is needed by HTTP/1.0', async () => {
  await using service = await testService()
  for (const host of hostileHosts.filter((one) => one !== '')) {
    const { status, json } = await rawRequest(`${service.url}/v1/customers`, 'GET', { host })
    expect([host, status, json?.code]).toEqual([host, 400, 'invalid_parameter'])
  }
  for (const host of ['x', 'my_desk:8080', 'desk.example.', '[::1]:8080', '127.0.0.1'])
    expect(await originOf(service, { host })).toBe(`http://${host}`)

  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const body = '{"scopes":["customers:read"]}'
  const head = ['POST /v1/console-links HTTP/1.0', `Authorization: Bearer ${service.api.token}`]
  socket.write(
    `${head.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  expect(await text(socket)).toContain(`"url":"${service.url}/console#link=`)
})
