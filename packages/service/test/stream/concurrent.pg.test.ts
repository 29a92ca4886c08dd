/** Writers and followers over HTTP, on three services that share a database, all at once. */
import { expect, test } from 'vitest'
import { audit, eventsOf } from '../../../testbed/audit.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import {
  checkpointOf,
  differences,
  type Follower,
  follow,
  place,
  tableRecords,
} from '../../../testbed/follower.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { type Call, createLoad, dice, expectedAnswers, lost } from '../../../testbed/load.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { createPool } from '../../src/db/pool.ts'

const kinds = ['customers', 'tickets'] as const

/** The same database through a pool of its own, as another process has it. */
function beside(database: TestDatabase): TestDatabase {
  const pool = createPool(database.connection, { max: 6, onIdleError: () => {} })
  return { ...database, pool, [Symbol.asyncDispose]: () => pool.end() }
}

function callOf(api: Api): Call {
  return (method, path, body, headers) => {
    if (method === 'DELETE') return api.delete(path, headers)
    return method === 'POST' ? api.post(path, body, headers) : api.patch(path, body, headers)
  }
}

test('followers of many writers miss, reorder, invent and repeat nothing', async () => {
  await using database = await testDatabase({ max: 4 })
  await using stack = new AsyncDisposableStack()
  const services: TestService[] = []
  for (let n = 0; n < 3; n++) {
    services.push(stack.use(await testService({ database: stack.use(beside(database)) })))
  }
  const [{ api }] = services as [TestService]
  const { organizationId, token } = api
  const apis = services.map((service) => service.withToken(token))
  const load = createLoad()

  let writing = true
  const writers = Array.from({ length: 18 }, async (_, n) => {
    const roll = dice(n)
    for (let m = 0; m < 45; m++) await load.write(callOf(apis[n % 3]!), roll)
  })
  const followerOf = (kind: (typeof kinds)[number], limit: number, service: number) =>
    follow(httpReader({ url: () => services[service]!.url, token, kind, limit }))
  const followers = kinds.flatMap((kind) =>
    [7, 50, 100].map((limit, n) => ({ kind, limit, follower: followerOf(kind, limit, n) })),
  )
  const following = followers.map(async ({ follower }) => {
    while (writing) await follower.poll()
  })
  const sampled = readYourWrites(apis, () => writing, followerOf('customers', 100, 1))

  await Promise.all(writers)
  writing = false
  await Promise.all(following)
  const samples = await sampled
  for (const kind of kinds) {
    for (const limit of [7, 100]) followers.push({ kind, limit, follower: followerOf(kind, limit, 0) })
  }

  const events = new Map(
    (await eventsOf(database.pool, organizationId)).map((event) => [
      `${event.at} ${event.subject_id}`,
      event.body,
    ]),
  )
  for (const { kind, follower } of followers) {
    await follower.drain()
    expect(follower.faults).toEqual([])
    const table = await tableRecords(database.pool, kind, organizationId)
    expect(differences(follower.copy, table)).toEqual([])
    const rows = table.filter(({ removed }) => !removed).map(({ body }) => body)
    expect(checkpointOf(follower.copy.values())).toEqual(checkpointOf(rows))
    const invented = follower.seen.filter((record) => events.get(place(record)) !== record.body)
    expect(invented).toEqual([])
  }
  expect([...load.tally.keys()].filter((answer) => !expectedAnswers.has(answer))).toEqual([])
  expect(await lost(database.pool, organizationId, load.acknowledged)).toEqual([])
  expect(await audit(database.pool, organizationId)).toEqual([])
  expect(samples).toBeGreaterThan(5)

  const cascades = await countCascades(database, organizationId, load.acknowledged)
  expect(cascades).toBeGreaterThan(0)
  expect(load.tally.get('422 validation_failed') ?? 0).toBeGreaterThan(0)
  const pages = followers.reduce((sum, { follower }) => sum + follower.pages, 0)
  const answers = [...load.tally].map(([answer, count]) => `${count} × ${answer}`).join(', ')
  console.log(
    `${load.acknowledged.length} writes acknowledged (at most ${load.maxInFlight} in flight: ${answers}), ` +
      `${cascades} tickets cascaded, ${pages} pages followed, ${samples} writes read back at once`,
  )
})

/** After a 2xx the next sync call from an earlier cursor shows the change, whichever service is asked. */
async function readYourWrites(
  apis: readonly Api[],
  writing: () => boolean,
  follower: Follower,
): Promise<number> {
  let samples = 0
  while (writing()) {
    await follower.drain()
    const { json } = await apis[samples % apis.length]!.post('/v1/customers', { name: `sample ${samples}` })
    const before = follower.seen.length
    await follower.drain()
    const shown = follower.seen.slice(before).filter(({ id }) => id === json.id)
    expect(shown).toHaveLength(1)
    expect(shown[0]!.at >= json.updatedAt).toBe(true)
    samples++
  }
  expect(follower.faults).toEqual([])
  return samples
}

/** Tickets that went with their customer: removed, and nobody was told that they removed them. */
async function countCascades(
  database: TestDatabase,
  organizationId: string,
  acknowledged: readonly { id: string; body: string | null }[],
): Promise<number> {
  const removedByName = new Set(acknowledged.filter(({ body }) => body === null).map(({ id }) => id))
  const tickets = await tableRecords(database.pool, 'tickets', organizationId)
  return tickets.filter(({ id, removed }) => removed && !removedByName.has(id)).length
}
