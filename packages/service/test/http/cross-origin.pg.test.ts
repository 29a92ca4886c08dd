/** What the service says to browsers on behalf of pages of other origins (DESKWIRE_CORS_ORIGINS). */
import { describe, expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { type TestService, testService } from '../../../testbed/service.ts'

const app = 'https://app.example'
const headersOfPage =
  'authorization,baggage,content-type,mcp-protocol-version,mcp-session-id,sentry-trace,traceparent,tracestate,x-acting-teammate'
const ask = (service: TestService, path: string, origin: string | null, asked: string | null = 'PATCH') =>
  fetch(service.url + path, {
    method: 'OPTIONS',
    headers: {
      ...(origin === null ? {} : { origin }),
      ...(asked === null ? {} : { 'access-control-request-method': asked }),
      'access-control-request-headers': headersOfPage,
    },
  })
const corsOf = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('for a listed origin', () => {
  test('a preflight is answered without a key, whatever stands at the address', async () => {
    await using service = await testService({ corsOrigins: [app, 'http://localhost:5173'] })
    for (const path of [
      '/v1/customers',
      '/v1/customers/x',
      '/v1/nothing',
      '/v1/%zz',
      '/healthz',
      '/openapi.json',
      '/mcp',
    ]) {
      const answer = await ask(service, path, app)
      expect([path, answer.status, await answer.text()]).toEqual([path, 204, ''])
      const said = (name: string) => answer.headers.get(`access-control-${name}`)
      expect(said('allow-origin')).toBe(app)
      expect(said('allow-methods')).toBe('GET, HEAD, POST, PATCH, DELETE')
      expect(said('allow-headers')).toBe(headersOfPage)
      expect(said('allow-credentials')).toBe(null)
      expect(answer.headers.get('vary')).toBe('Origin, Access-Control-Request-Headers')
      expect(answer.headers.get('x-request-id')).toMatch(/\S/)
    }
  })

  test('every answer may be read, refusals of every sort too', async () => {
    await using service = await testService({ corsOrigins: [app] })
    const { api } = service
    const { id } = await makeCustomer(api)
    const statuses: number[] = []
    for (const answer of [
      await api.get(`/v1/customers/${id}`, { origin: app }),
      await api.post('/v1/customers', { nme: 'x' }, { origin: app }),
      await api.post('/v1/customers', '{', { origin: app }),
      await api.get('/v1/nothing', { origin: app }),
      await api.get('/v1/customers/%zz', { origin: app }),
      await api.delete('/v1/conversations', { origin: app }),
      await service.withToken(null).get('/v1/customers', { origin: app }),
      await api.get('/v1/customers/export', { origin: app }),
      await api.get('/docs/errors', { origin: app }),
    ]) {
      statuses.push(answer.status)
      expect(answer.headers.get('access-control-allow-origin')).toBe(app)
      const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
      for (const name of ['ETag', 'Location', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id'])
        expect(exposed).toContain(name)
      expect(answer.headers.get('vary')?.split(', ')).toContain('Origin')
    }
    expect(statuses).toEqual([200, 422, 400, 404, 400, 405, 401, 200, 200])
  })

  test('OPTIONS that is no preflight is refused like any other method', async () => {
    await using service = await testService({ corsOrigins: [app] })
    const answer = await ask(service, '/v1/customers', app, null)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })
})

test.each([
  'https://other.example',
  'https://app.example:8443',
  'http://app.example',
  'https://app.example.evil.example',
  'null',
])('for %s nothing is allowed, and caches are told that it depends on the origin', async (origin) => {
  await using service = await testService({ corsOrigins: [app] })
  const preflight = await ask(service, '/v1/customers', origin, 'POST')
  expect([preflight.status, corsOf(preflight.headers), preflight.headers.get('vary')]).toEqual([
    405,
    [],
    'Origin',
  ])
  const answer = await service.api.get('/v1/customers', { origin })
  expect([answer.status, corsOf(answer.headers), answer.headers.get('vary')]).toEqual([200, [], 'Origin'])
})

test('without the setting nothing is said of origins', async () => {
  await using service = await testService()
  const answer = await service.api.get('/v1/customers', { origin: app })
  expect([answer.status, corsOf(answer.headers), answer.headers.get('vary')]).toEqual([200, [], null])
  expect((await ask(service, '/v1/customers', app)).status).toBe(405)
})
