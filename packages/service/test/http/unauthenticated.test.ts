/** Requests without a valid key have a limit by network, and a key that may be good passes it. No database. */
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { LimitExceeded } from '../../src/admission/fair-queue.ts'
import { createRateLimiter } from '../../src/admission/rate-limit.ts'
import { createAuthenticator, type LookUp, type Lookup } from '../../src/auth/authenticator.ts'
import { newToken } from '../../src/auth/token.ts'
import { limitProblem } from '../../src/http/admit.ts'
import { createServer } from '../../src/http/server.ts'
import type { Route } from '../../src/openapi/api-module.ts'

test('beyond the limit of a network what needs no key, or carries none, is 429 at once, and keys pass', async () => {
  let now = 0
  const unauthenticated = createRateLimiter({ perSecond: 1, burst: 3 }, { now: () => now })
  const server = createServer(pino({ level: 'silent' }), { unauthenticated })
  server.get('/page', async () => 'a page')
  const route = { access: 'any key' } as Route
  server.get('/v1/things', { config: { route } }, async () => 'things')
  onTestFinished(() => server.close())
  const ask = async (url: string, token?: string, remoteAddress = '192.0.2.1') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return server.inject({ url, headers, remoteAddress })
  }
  // Neither a token where none is asked for nor one that is mistyped makes a caller known.
  for (const [url, token] of [['/page', newToken()], ['/nowhere'], ['/v1/things', 'dwk_mistyped']] as const)
    expect((await ask(url, token)).statusCode).not.toBe(429)
  const refused = await ask('/page')
  expect([refused.statusCode, refused.headers['retry-after'], refused.json().code]).toEqual([
    429,
    '1',
    'rate_limited',
  ])
  expect((await ask('/v1/things', newToken())).statusCode).toBe(200)
  expect((await ask('/page', undefined, '192.0.2.2')).statusCode).toBe(200)
  now += 1_000
  expect((await ask('/page')).statusCode).toBe(200)
})

function authenticatorOf(lookUp: LookUp, now: () => number) {
  const limit = { perSecond: 1, burst: 3 }
  const unauthenticated = createRateLimiter(limit, { now })
  return createAuthenticator({ lookUp, clock: { now }, limit, uses: { note() {} }, unauthenticated })
}

const found = { outcome: 'authenticated', caller: { apiKeyId: 'key' } } as Lookup

test('a key that an outage keeps from being looked up uses up no limit', async () => {
  let isGone = true
  const { authenticate } = authenticatorOf(
    async () => (isGone ? Promise.reject(new Error('gone')) : found),
    () => 0,
  )
  for (let n = 0; n < 10; n++) await expect(authenticate(newToken(), '192.0.2.1')).rejects.toThrow('gone')
  isGone = false
  expect((await authenticate(newToken(), '192.0.2.1')).outcome).toBe('authenticated')
})

test('requests count by the time they were sent, although their keys are all found at the end of an outage', async () => {
  let now = 0
  const outage = Promise.withResolvers<void>()
  const { authenticate } = authenticatorOf(
    () => outage.promise.then(() => found),
    () => now,
  )
  const token = newToken()
  const sent = Array.from({ length: 10 }, () => {
    now += 1_000
    return authenticate(token, `192.0.2.${now / 1_000}`)
  })
  outage.resolve()
  expect((await Promise.all(sent)).map(({ outcome }) => outcome)).toEqual(sent.map(() => 'authenticated'))
  const more = await Promise.all(Array.from({ length: 5 }, () => authenticate(token, '192.0.2.1')))
  expect(more.map(({ outcome }) => outcome)).toContain('limited')
})

test('a request that an outage stalled is not told that it is one of too many', () => {
  const limit = new LimitExceeded('own_share', 'requests')
  expect([limitProblem(limit, false).code, limitProblem(limit, true).code]).toEqual([
    'rate_limited',
    'unavailable',
  ])
})
