/** The limit of a key over HTTP: 429, and what every answer says of it (specification 14.1). */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testService } from '../../../testbed/service.ts'
import { newToken } from '../../src/auth/token.ts'

const limit = { perSecond: 2, burst: 5 }
const said = (headers: Headers) => [headers.get('ratelimit'), headers.get('ratelimit-policy')]
const policy = '"default";q=5;w=3'

test('says on every answer to a key what is left, and refuses what is too much, by the clock', async () => {
  const clock = testClock()
  await using service = await testService({ clock, rateLimit: limit })
  const { api } = service
  const answers = [
    await api.get('/v1/customers'),
    await api.post('/v1/customers', { name: 'Ada' }),
    await api.get('/v1/customers/x'),
    await api.post('/v1/customers', { nme: 'Ada' }),
    await api.get('/v1/organization'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 201, 404, 422, 200])
  expect(answers.map(({ headers }) => said(headers))).toEqual([
    ['"default";r=4;t=1', policy],
    ['"default";r=3;t=1', policy],
    ['"default";r=2;t=2', policy],
    ['"default";r=1;t=2', policy],
    ['"default";r=0;t=3', policy],
  ])
  const refused = await api.post('/v1/customers', { name: 'Grace' })
  expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited'])
  expect(said(refused.headers)).toEqual(['"default";r=0;t=3', policy])
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.json.detail).toContain('2 requests a second')
  // Another key of the organization has its own; nothing of what was refused was done.
  const other = await service.newKey(api.organizationId, ['customers:read'])
  expect((await other.get('/v1/customers')).json.pagination.total).toBe(1)
  clock.advance(499)
  expect((await api.get('/v1/customers')).status).toBe(429)
  clock.advance(1)
  expect((await api.get('/v1/customers')).status).toBe(200)
  expect((await api.get('/v1/customers')).status).toBe(429)
})

test('a refusal for want of a scope counts, and says so', async () => {
  await using service = await testService({ clock: testClock(), rateLimit: limit })
  const key = await service.newKey(service.api.organizationId, ['customers:read'])
  for (let n = 0; n < 5; n++) {
    const refused = await key.get('/v1/tickets')
    expect([refused.status, said(refused.headers)[1]]).toEqual([403, policy])
  }
  expect((await key.get('/v1/tickets')).status).toBe(429)
})

test('unknown keys count against no limit, and say nothing of one', async () => {
  await using service = await testService({ clock: testClock(), rateLimit: limit })
  for (let n = 0; n < 7; n++) {
    const answer = await service.withToken(newToken()).get('/v1/customers')
    expect([answer.status, ...said(answer.headers), answer.headers.get('retry-after')]).toEqual([
      401,
      null,
      null,
      null,
    ])
  }
  expect((await service.api.get('/v1/customers')).headers.get('ratelimit')).toBe('"default";r=4;t=1')
  // What carries no key at all asks nobody, and is refused as ever.
  expect((await service.withToken(null).get('/v1/customers')).status).toBe(401)
})

test('what needs no key has no limit, and without a setting nothing has', async () => {
  await using service = await testService({ clock: testClock(), rateLimit: { perSecond: 1, burst: 1 } })
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/healthz']) {
    const answer = await service.withToken(null).get(path)
    expect([answer.status, ...said(answer.headers)]).toEqual([200, null, null])
  }
  await using unlimited = await testService({ clock: testClock() })
  for (let n = 0; n < 20; n++) {
    const { status, headers } = await unlimited.api.get('/v1/customers')
    expect([status, ...said(headers)]).toEqual([200, null, null])
  }
})

test('sessions of a key count toward its limit', async () => {
  await using service = await testService({ clock: testClock(), rateLimit: limit })
  const { api } = service
  const sessions: (typeof api)[] = []
  for (let n = 0; n < 2; n++) {
    const { json: link } = await api.post('/v1/console-links', { scopes: ['customers:read'] })
    const body = { link: link.url.split('#link=')[1] }
    const { json: session } = await service.withToken(null).post('/v1/console-links/exchange', body)
    sessions[n] = service.withToken(session.token)
  }
  const statuses = []
  for (const who of [...sessions, api, ...sessions]) statuses.push((await who.get('/v1/customers')).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
})
