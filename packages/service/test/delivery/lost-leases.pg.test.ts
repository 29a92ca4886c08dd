/** Leases whose workers died: what they may have died of is found, is tried as often as its schedule says, and holds up no others. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { answered, lifeless, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type HeldSend, heldSend } from '../../../testbed/held-send.ts'
import {
  attemptsOf,
  deliveriesOf,
  hour,
  makeWebhook,
  minute,
  readWebhook,
  second,
} from '../../../testbed/hooks.ts'
import { plant } from '../../../testbed/planted.ts'
import { testService } from '../../../testbed/service.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

async function desk() {
  const it = await deskWithEndpoint()
  const { clock, service } = it
  const dead: { held: HeldSend; round: Promise<number> }[] = []
  return {
    ...it,
    /** A worker that sends so many, and is never heard of again; answers the ids of their events. */
    async workerDies(sends: number) {
      const held = heldSend()
      const round = testEngine(service, clock, { send: held.send, concurrency: lifeless }).engine.runDue()
      dead.push({ held, round })
      await held.made(sends)
      clock.advance(15 * second)
      return held.attempts.map(({ eventId }) => eventId)
    },
    /** One that lives and is answered; the ids of the events it sent, and how many at once at most. */
    async workerLives() {
      const sent: string[] = []
      let now = 0
      let most = 0
      const { engine } = testEngine(service, clock, {
        send: async ({ headers }) => {
          most = Math.max(most, ++now)
          sent.push(headers['x-service-event-id'] ?? '')
          await new Promise(setImmediate)
          now--
          return answered(200)
        },
      })
      await engine.runDue()
      return { sent, most }
    },
    async [Symbol.asyncDispose]() {
      let left = dead.length
      for (const { round } of dead) void round.finally(() => left--)
      await eventually('no round goes on', () => {
        for (const { held } of dead) for (const attempt of held.inFlight()) attempt.answer(200)
        return left === 0
      })
      await service[Symbol.asyncDispose]()
    },
  }
}

test('after three in a row deliveries are sent alone, and the one that was alone when its worker died is told of', async () => {
  await using it = await desk()
  for (let n = 0; n < 6; n++) await makeCustomer(it.api, { name: `number ${n}` })
  for (let death = 0; death < 3; death++) expect((await it.workerDies(4)).length).toBe(4)
  const began = it.clock.now()
  const [poison, ...others] = await it.workerDies(1)
  expect(others).toEqual([])

  const { sent, most } = await it.workerLives()
  expect(sent).toHaveLength(5)
  expect(sent).not.toContain(poison)
  expect(most).toBe(1)
  const rows = await it.log()
  const lost = rows.find(({ eventId }) => eventId === poison)
  const lastError = { code: 'worker_lost', message: expect.stringContaining('alone') }
  expect(lost).toMatchObject({
    status: 'pending',
    attemptCount: 1,
    responseStatus: null,
    lastError,
    lastAttemptAt: new Date(began).toISOString(),
    nextAttemptAt: new Date(it.clock.now() + minute).toISOString(),
  })
  expect(await attemptsOf(it.api, lost)).toMatchObject([
    { number: 1, at: new Date(began).toISOString(), error: lastError, durationMs: 0 },
  ])
  expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(5)
  expect(await readWebhook(it.api, it.id)).toMatchObject({
    status: 'active',
    failureCount: 0,
    failingSince: null,
  })

  // From here on others go together again; it alone goes alone, and arrives like any other.
  it.clock.advance(minute)
  for (let n = 0; n < 3; n++) await makeCustomer(it.api, { name: `later ${n}` })
  const later = await it.workerLives()
  expect(later.sent).toHaveLength(4)
  expect(later.sent[0]).toBe(poison)
  expect(later.most).toBe(3)
  expect((await it.log()).find(({ eventId }) => eventId === poison)).toMatchObject({
    status: 'succeeded',
    attemptCount: 2,
    lastError: null,
  })
})

test('what kills every worker ends after as many attempts as any other', async () => {
  await using it = await desk()
  await makeCustomer(it.api)
  for (let death = 0; death < 4; death++) await it.workerDies(1)
  // Known by now: each of its workers is the only one that dies of that attempt.
  for (const wait of [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
    expect(await it.workerLives()).toEqual({ sent: [], most: 0 })
    it.clock.advance(wait)
    await it.workerDies(1)
  }
  expect(await it.workerLives()).toEqual({ sent: [], most: 0 })
  const [row] = await it.log()
  expect(row).toMatchObject({ status: 'failed', attemptCount: 6, lastError: { code: 'worker_lost' } })
  expect((await attemptsOf(it.api, row)).map(({ number, error }) => [number, error.code])).toEqual(
    [6, 5, 4, 3, 2, 1].map((number) => [number, 'worker_lost']),
  )
  expect(await readWebhook(it.api, it.id)).toMatchObject({ status: 'active', failureCount: 0 })
  it.clock.advance(100 * hour)
  expect(await it.workerLives()).toEqual({ sent: [], most: 0 })
})

test('a lease that is given back ends the row', async () => {
  await using it = await desk()
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 4; n++) await makeCustomer(it.api, { name: `number ${round} ${n}` })
    for (let death = 0; death < 2; death++) await it.workerDies(4)
    expect(await it.workerLives()).toMatchObject({ most: 4 })
  }
  expect((await it.log()).map(({ status, attemptCount }) => [status, attemptCount])).toEqual(
    Array(8).fill(['succeeded', 1]),
  )
})

test('of a backlog those that a dead worker may have had are sent alone, and no more', async () => {
  await using it = await desk()
  const { pool } = it.service.database
  const { organizationId } = it.api
  const urls = ['https://127.0.0.1:1/']
  await plant(pool, { organizationId, urls, backlog: 400, now: it.clock.now() })
  for (let death = 0; death < 3; death++) await it.workerDies(4)
  const alone: number[] = []
  let now = 0
  const { engine } = testEngine(it.service, it.clock, {
    send: async () => {
      alone.push(++now)
      await new Promise(setImmediate)
      now--
      return answered(200)
    },
  })
  await engine.runDue()
  expect(alone).toHaveLength(400)
  const first = alone.findIndex((atOnce) => atOnce > 1)
  expect(first).toBeGreaterThanOrEqual(160)
  expect(first).toBeLessThan(170)
})

test('what failed with its endpoint and is begun anew by hand has not lost the worker that it had before', async () => {
  await using it = await desk()
  await makeCustomer(it.api)
  for (let death = 0; death < 4; death++) await it.workerDies(1)
  const path = `/v1/webhooks/${it.id}`
  await it.api.patch(path, { status: 'disabled' })
  await it.api.patch(path, { status: 'active' })
  const [failed] = await it.log()
  expect(failed).toMatchObject({ status: 'failed', lastError: { code: 'endpoint_disabled' } })
  expect((await it.api.post(`${path}/deliveries/${failed.id}/retry`, undefined)).status).toBe(202)
  expect((await it.workerLives()).sent).toEqual([failed.eventId])
  expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 1 }])
})

test.each(['whose drain failed', 'whose release a crash of the database undid'])(
  'a queue %s goes on once the database answers again, long before the lease ends',
  async (how) => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { api, database } = service
    const webhook = await makeWebhook(api)
    const workerId = randomUUID()
    let fails = how === 'whose drain failed'
    const { engine, sent } = testEngine(service, clock, {
      workerId,
      through: (queues) => ({
        ...queues,
        async complete(...call) {
          if (fails) {
            fails = false
            throw new Error('Connection terminated unexpectedly')
          }
          return queues.complete(...call)
        },
      }),
    })
    const lane =
      'update endpoint_queues set lease_id = $2, lease_until = $3, due_at = $3, worker_id = $4 where webhook_id = $1'
    try {
      if (how !== 'whose drain failed') {
        const until = new Date(clock.now() + 15 * second)
        await database.pool.query(lane, [webhook.id, randomUUID(), until, workerId])
      }
      const { id } = await makeCustomer(api)
      engine.start()
      engine.resume()
      await eventually(
        'it is delivered',
        async () => (await deliveriesOf(api, webhook.id))[0]?.status === 'succeeded',
      )
      expect(new Set(sent.map(({ body }) => JSON.parse(body).data.id))).toEqual(new Set([id]))
      await eventually('the queue is released', async () => {
        const { rows } = await database.pool.query(
          'select lost_leases, lease_id from endpoint_queues where webhook_id = $1',
          [webhook.id],
        )
        return rows[0]?.lost_leases === 0 && rows[0]?.lease_id === null
      })
    } finally {
      await engine.stop()
    }
  },
)
