/** What needs no key, or comes without one, has a pace by address; a key that may be good is not held up by it. No database. */
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { newToken } from '../../src/access/token.ts'
import { createServer } from '../../src/http/server.ts'
import type { Operation } from '../../src/openapi/part.ts'
import { eventually } from '../harness/locks.ts'

async function served() {
  const strangers = { perSecond: 1, burst: 2, waiting: 3 }
  const server = createServer(pino({ level: 'silent' }), { strangers })
  server.get('/page', async () => 'a page')
  const route = { access: 'any key' } as Operation
  server.get('/v1/things', { config: { route } }, async () => 'things')
  await server.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    server.server.closeAllConnections()
    await server.close()
  })
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return (path: string, token?: string) =>
    fetch(`http://127.0.0.1:${address.port}${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
}

test('beyond its pace an address waits, beyond those that may wait it is refused, and keys pass by', async () => {
  const ask = await served()
  const paths = ['/page', '/v1/things', '/nowhere']
  const answers: Response[] = []
  const asked = Array.from({ length: 30 }, async (_, n) => {
    // Neither a token where none is asked for nor one that is mistyped makes a caller known.
    const token = [undefined, newToken(), 'dwk_mistyped'][n % 3]
    answers.push(await ask(paths[n % 2 === 0 ? 0 : n % 3 === 1 ? 2 : 1] as string, token))
  })
  await eventually('most are refused', () => answers.filter(({ status }) => status === 429).length > 20)
  expect(answers.length).toBeLessThan(30)
  // Three wait, and yet:
  expect((await ask('/v1/things', newToken())).status).toBe(200)
  await Promise.all(asked)
  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(5)
  expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']))
  expect(await refused[0]?.json()).toMatchObject({ code: 'rate_limited' })
})
