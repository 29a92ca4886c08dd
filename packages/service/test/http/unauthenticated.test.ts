/** Requests without a valid key have a limit by network, and a key that may be good passes it. No database. */
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createRateLimiter } from '../../src/admission/rate-limit.ts'
import { newToken } from '../../src/auth/token.ts'
import { createServer } from '../../src/http/server.ts'
import type { Operation } from '../../src/openapi/api-module.ts'

test('beyond the limit of a network what needs no key, or carries none, is 429 at once, and keys pass', async () => {
  let now = 0
  const unauthenticated = createRateLimiter({ perSecond: 1, burst: 3 }, { now: () => now })
  const server = createServer(pino({ level: 'silent' }), { unauthenticated })
  server.get('/page', async () => 'a page')
  const route = { access: 'any key' } as Operation
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
