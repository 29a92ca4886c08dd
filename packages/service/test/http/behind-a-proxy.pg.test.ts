/** Limits see the client's address behind a proxy that is trusted, and the proxy's where none is. */
import { expect, test } from 'vitest'
import { newToken } from '../../src/access/token.ts'
import { unauthenticatedLimit } from '../../src/admission/rate-limit.ts'
import { parseNetworks } from '../../src/kernel/networks.ts'
import { testClock } from '../harness/clock.ts'
import { testService } from '../harness/service.ts'

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
