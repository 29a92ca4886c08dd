/** Limits see the client's address behind a proxy that is trusted, and the proxy's where none is. */
import { expect, test } from 'vitest'
import { newToken } from '../../src/access/token.ts'
import { unseenLimits } from '../../src/access/unseen-tokens.ts'
import { parseNetworks } from '../../src/kernel/networks.ts'
import { eventually } from '../harness/locks.ts'
import { testService } from '../harness/service.ts'

const { perNetwork } = unseenLimits
const loopback = parseNetworks('127.0.0.0/8')
if (loopback === undefined) throw new Error('the loopback is not read')

test.each([
  { who: 'a trusted proxy', trusted: true },
  { who: 'a stranger', trusted: false },
])('$who says where calls come from, while no token can be looked up', async ({ trusted }) => {
  await using service = await testService(trusted ? { trustedProxies: loopback } : {})
  const call = async (token: string, from: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from }
    return service.app.server.inject({ url: '/v1/customers', headers })
  }
  const client = await service.database.pool.connect()
  let refused = 0
  await client.query('begin')
  await client.query('lock table api_key_tokens in access exclusive mode')
  const flood: Promise<number>[] = []
  try {
    const flooding = async () => {
      const answer = await call(newToken(), '198.51.100.7')
      if (answer.statusCode !== 429) return answer.statusCode
      refused++
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.json().code).toBe('rate_limited')
      return 429
    }
    flood.push(flooding())
    await eventually('a batch is under way, and no other begins', async () => {
      const { rows } = await service.database.pool.query(
        "select 1 from pg_locks l where not l.granted and l.relation = 'api_key_tokens'::regclass",
      )
      return rows.length === 1
    })
    for (let n = 0; n < perNetwork + 100; n++) flood.push(flooding())
    await eventually('those beyond the queue are refused', () => refused >= 100)
    const good = call(service.api.token, '203.0.113.9').then(({ statusCode }) => statusCode)
    if (!trusted) expect(await good).toBe(429)
    await client.query('rollback')
    if (trusted) expect(await good).toBe(200)
  } finally {
    client.release(true)
  }
  const statuses = await Promise.all(flood)
  expect(statuses.filter((status) => status === 429)).toHaveLength(refused)
  expect(statuses.filter((status) => status === 401)).toHaveLength(statuses.length - refused)
  // And when the queue is empty again, whoever was refused is let in.
  expect((await call(service.api.token, '198.51.100.7')).statusCode).toBe(200)
})
