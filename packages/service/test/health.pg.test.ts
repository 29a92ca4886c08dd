/** What anybody may ask without a key: how it answers, and that it costs the database next to nothing. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../testbed/clock.ts'
import { type TestDatabase, testDatabase } from '../../testbed/database.ts'
import { second } from '../../testbed/hooks.ts'
import { type TestService, testService } from '../../testbed/service.ts'

/** A database that counts the statements that go to it, and can go away. */
async function watchedDatabase() {
  const database = await testDatabase()
  const seen: string[] = []
  let gone = false
  const query = (...call: unknown[]) => {
    const [asked] = call
    seen.push(typeof asked === 'string' ? asked : (asked as { text: string }).text)
    if (gone) return Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }))
    return Reflect.apply(database.pool.query, database.pool, call)
  }
  const pool: Pool = Object.assign(Object.create(database.pool), { query })
  return {
    database: { ...database, pool } satisfies TestDatabase,
    seen,
    count: (part: string) => seen.filter((text) => text.includes(part)).length,
    goAway: () => {
      gone = true
    },
    comeBack: () => {
      gone = false
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

const often = (service: TestService, path: string, times: number) => {
  const stranger = service.withToken(null)
  return Promise.all(Array.from({ length: times }, () => stranger.get(path)))
}

test('health and readiness need no key', async () => {
  await using service = await testService()
  const stranger = service.withToken(null)
  expect((await stranger.get('/healthz')).json).toEqual({ status: 'ok' })
  expect((await stranger.get('/readyz')).json).toEqual({ status: 'ready' })
})

test('readiness asks the database once a second, whoever asks, and tells within it that it went or came back', async () => {
  const clock = testClock()
  await using watched = await watchedDatabase()
  await using service = await testService({ clock, database: watched.database })
  const asked = () => watched.count('from installation i where i.singleton')
  const readiness = async () => (await service.withToken(null).get('/readyz')).status
  const answers = await often(service, '/readyz', 100)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(asked()).toBe(1)
  clock.advance(999)
  watched.goAway()
  expect(await readiness()).toBe(200)
  expect(asked()).toBe(1)
  clock.advance(1)
  const refused = await service.withToken(null).get('/readyz')
  expect(refused).toMatchObject({ status: 503, json: { code: 'unavailable' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  for (const { status } of await often(service, '/readyz', 50)) expect(status).toBe(503)
  expect(asked()).toBe(2)
  watched.comeBack()
  clock.advance(second)
  expect(await readiness()).toBe(200)
  expect(asked()).toBe(3)
})

test('a database that is silent is not ready, and holds one connection however many ask', async () => {
  const clock = testClock()
  await using watched = await watchedDatabase()
  await using service = await testService({ clock, database: watched.database })
  const client = await watched.database.pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table installation in access exclusive mode')
    const answers = await often(service, '/readyz', 20)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    clock.advance(second)
    expect((await service.withToken(null).get('/readyz')).status).toBe(503)
    expect(watched.count('from installation i where i.singleton')).toBe(1)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('what does not work beside a process is told, and takes it from nobody', async () => {
  let reason: string | null = 'The worker cannot be started.'
  await using service = await testService({ degraded: () => reason })
  const stranger = service.withToken(null)
  expect(await stranger.get('/readyz')).toMatchObject({
    status: 200,
    json: { status: 'ready', degraded: reason },
  })
  reason = null
  expect((await stranger.get('/readyz')).json).toEqual({ status: 'ready' })
})

test('metrics are made once a second, whoever asks', async () => {
  const clock = testClock()
  await using watched = await watchedDatabase()
  await using service = await testService({ clock, database: watched.database })
  const answers = await often(service, '/metrics', 100)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const [first] = answers
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([first?.text]))
  expect(watched.count('from webhooks w where')).toBe(1)
  await service.api.get('/v1/customers')
  const shown = async () =>
    (await service.withToken(null).get('/metrics')).text.includes('route="/v1/customers"')
  clock.advance(999)
  expect(await shown()).toBe(false)
  clock.advance(1)
  expect(await shown()).toBe(true)
  // Of a database that does not answer there is no figure, and it is not asked again at once.
  clock.advance(15 * second)
  watched.goAway()
  for (let n = 0; n < 3; n++) {
    const { status, text } = await service.withToken(null).get('/metrics')
    expect([status, /^deskwire_deliveries_due\{/m.test(text)]).toEqual([200, false])
  }
  expect(watched.count('from webhooks w where')).toBe(2)
})

test('metrics that are served elsewhere are not served here, nor described', async () => {
  await using service = await testService({ metricsElsewhere: true })
  const stranger = service.withToken(null)
  expect(await stranger.get('/metrics')).toMatchObject({ status: 404, json: { code: 'not_found' } })
  const { paths } = (await stranger.get('/openapi.json')).json
  expect([paths['/metrics'], typeof paths['/readyz']]).toEqual([undefined, 'object'])
  expect(await service.app.metrics()).toMatch(/^deskwire_deliveries_due\{process="api"\} 0$/m)
})
