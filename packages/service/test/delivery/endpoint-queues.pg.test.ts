/** Endpoint queues: found, leased, completed and released, whatever else happens at that moment. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { succeeded } from '../../../testbed/attempt-result.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { lifeless, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { attemptsOf, minute, readWebhook, second } from '../../../testbed/hooks.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

const attemptsAtOnce = deliveryTuning.concurrency.perEndpoint

/** A service of its own, an endpoint, and an engine; with `held`, one whose attempts hang. */
async function desk() {
  const it = await deskWithEndpoint()
  const { clock, service, pool, endpoint: key } = it
  return {
    ...it,
    key,
    ...testEngine(service, clock),
    held(options: Parameters<typeof testEngine>[2] = {}) {
      const held = heldSend()
      return { ...held, engine: testEngine(service, clock, { send: held.send, ...options }).engine }
    },
    async queueRow() {
      const { rows } = await pool.query(
        'select due_at, lease_id, lease_until from endpoint_queues where organization_id = $1 and webhook_id = $2',
        [key.organizationId, key.webhookId],
      )
      return rows[0] as { due_at: Date | null; lease_id: string | null; lease_until: Date | null }
    },
    setDue: (at: number | null) =>
      pool.query('update endpoint_queues set due_at = $1 where webhook_id = $2', [
        at === null ? null : new Date(at).toISOString(),
        key.webhookId,
      ]),
  }
}

const idle = { due_at: null, lease_id: null, lease_until: null }

describe('at most sixteen attempts are in flight to an endpoint', () => {
  test('with two engines on one database too; and each delivery is sent once', async () => {
    await using it = await desk()
    for (let n = 0; n < 40; n++) await makeCustomer(it.api, { name: `number ${n}` })
    const held = heldSend()
    const engines = [1, 2].map(() => testEngine(it.service, it.clock, { send: held.send }).engine)
    const running = engines.map((engine) => engine.runDue())
    await held.made(attemptsAtOnce)
    // The other found the queue claimed, or never saw it: it is done, and sent nothing.
    await Promise.race(running)
    expect(held.attempts).toHaveLength(attemptsAtOnce)
    for (let made = attemptsAtOnce; made < 40; made++) {
      held.inFlight()[0]?.answer(200)
      await held.made(made + 1)
      expect(held.inFlight()).toHaveLength(attemptsAtOnce)
    }
    for (const attempt of held.inFlight()) attempt.answer(200)
    await Promise.all(running)
    expect(new Set(held.attempts.map(({ eventId }) => eventId)).size).toBe(40)
    expect(held.attempts).toHaveLength(40)
    expect(new Set((await it.log()).map(({ status }) => status))).toEqual(new Set(['succeeded']))
    expect(await it.queueRow()).toEqual(idle)
  })
})

describe('a queue that does not say what is so', () => {
  test('and has something due is found by the sweep', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    it.clock.advance(second)
    for (const stale of [null, it.clock.now() + minute]) {
      await it.setDue(stale)
      expect(await it.engine.runDue()).toBe(0)
      expect(await it.queues.sweep(it.clock.now(), minute)).toBe(1)
      expect(await it.queues.sweep(it.clock.now(), minute)).toBe(0)
    }
    expect(await it.engine.runDue()).toBe(1)
    expect(it.sent).toHaveLength(1)
  })

  test('is not swept while nothing is due, nor while it is held', async () => {
    await using it = await desk()
    it.answer(500)
    await makeCustomer(it.api)
    await it.engine.runDue()
    await it.setDue(null)
    it.clock.advance(minute - 1)
    expect(await it.queues.sweep(it.clock.now(), minute)).toBe(0)
    it.clock.advance(1)
    await it.setDue(it.clock.now())
    const lease = {
      id: randomUUID(),
      workerId: randomUUID(),
      until: it.clock.now() + 15 * second,
    }
    await it.queues.claim(it.key, () => ({ lease, now: it.clock.now(), limit: 64 }))
    await it.setDue(null)
    expect(await it.queues.sweep(it.clock.now(), minute)).toBe(0)
  })

  test('and has nothing due parks itself, until its next delivery is due or for good', async () => {
    await using it = await desk()
    await it.setDue(it.clock.now())
    expect(await it.engine.runDue()).toBe(1)
    expect(await it.queueRow()).toEqual(idle)
    it.answer(500)
    await makeCustomer(it.api)
    await it.engine.runDue()
    const next = new Date(it.clock.now() + minute)
    await it.setDue(it.clock.now())
    expect(await it.engine.runDue()).toBe(1)
    expect(await it.queueRow()).toEqual({ ...idle, due_at: next })
    expect(it.sent).toHaveLength(1)
  })
})

describe('a lease', () => {
  test('left by a worker that died is taken over when it ends, and not before', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    const dead = it.held({ concurrency: lifeless })
    const round = dead.engine.runDue()
    await dead.made(1)
    expect(await it.queueRow()).toMatchObject({ lease_until: new Date(it.clock.now() + 15 * second) })
    it.clock.advance(15 * second - 1)
    expect(await it.engine.runDue()).toBe(0)
    expect(it.sent).toEqual([])
    it.clock.advance(1)
    expect(await it.engine.runDue()).toBe(1)
    expect(it.sent).toHaveLength(1)
    expect(it.sent[0]?.headers['x-service-event-id']).toBe(dead.attempts[0]?.eventId)
    dead.inFlight()[0]?.answer(200)
    await round
  })

  test('that was lost: its worker completes nothing, though it had an answer', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    const slow = it.held({ concurrency: lifeless })
    const round = slow.engine.runDue()
    await slow.made(1)
    it.clock.advance(15 * second)
    await it.engine.runDue()
    const [before] = await it.log()
    const endpoint = await readWebhook(it.api, it.key.webhookId)
    expect(before).toMatchObject({ status: 'succeeded', attemptCount: 1 })
    slow.attempts[0]?.answer(500)
    await round
    expect(await it.log()).toEqual([before])
    expect(await attemptsOf(it.api, before)).toHaveLength(1)
    expect(await readWebhook(it.api, it.key.webhookId)).toEqual(endpoint)
    expect(await it.queueRow()).toEqual(idle)
  })

  test('that was lost while another holds it: that one keeps it', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    const [first, second_] = [it.held({ concurrency: lifeless }), it.held({ concurrency: lifeless })]
    const rounds = [first.engine.runDue()]
    await first.made(1)
    it.clock.advance(15 * second)
    rounds.push(second_.engine.runDue())
    await second_.made(1)
    const lease = await it.queueRow()
    first.attempts[0]?.answer(500)
    await rounds[0]
    expect(await it.queueRow()).toEqual(lease)
    expect(await it.log()).toMatchObject([{ status: 'pending', attemptCount: 0 }])
    second_.attempts[0]?.answer(200)
    await rounds[1]
    expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 1 }])
  })

  test('is prolonged when half of it is over; results are completed before the slow ones end', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    await makeCustomer(it.api)
    const held = it.held()
    const round = held.engine.runDue()
    await held.made(2)
    held.attempts[0]?.answer(200)
    // So that the answer has been collected by the time the clock moves.
    await it.api.get('/healthz')
    it.clock.advance(8 * second)
    await eventually('the quick one to be completed', async () =>
      (await it.log()).some(({ status }) => status === 'succeeded'),
    )
    expect(await it.queueRow()).toMatchObject({ lease_until: new Date(it.clock.now() + 15 * second) })
    held.attempts[1]?.answer(200)
    await round
    expect((await it.log()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })
})

describe('a commit that meets the release of its queue', () => {
  test.each(['the release first', 'the commit first'])('%s: nothing is left behind', async (order) => {
    await using it = await desk()
    await makeCustomer(it.api, { name: 'one' })
    const held = it.held()
    const round = held.engine.runDue()
    await held.made(1)
    const lock = await lockRow(it.service.database, 'endpoint_queues', it.key)
    const complete = async () => held.attempts[0]?.answer(200)
    const made: Promise<unknown>[] = []
    const commit = async () => made.push(makeCustomer(it.api, { name: 'two' }))
    const acts = order === 'the release first' ? [complete, commit] : [commit, complete]
    for (const [n, act] of acts.entries()) {
      await act()
      await waitingBackends(it.service.database, n + 1)
    }
    await lock.release()
    await Promise.all(made)
    // The first engine may have looked before the commit was there.
    const again = held.engine.runDue()
    await held.made(2)
    held.attempts[1]?.answer(200)
    await Promise.all([round, again])
    expect((await it.log()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    expect(held.attempts).toHaveLength(2)
    expect(await it.queueRow()).toEqual(idle)
  })
})

test('a claim that had to wait for its queue has the endpoint as it is after the deliveries', async () => {
  await using it = await desk()
  const { database } = it.service
  await makeCustomer(it.api)
  const lock = await lockRow(database, 'endpoint_queues', it.key)
  const now = it.clock.now()
  const lease = { id: randomUUID(), workerId: randomUUID(), until: now + 15 * second }
  const claiming = it.queues.claim(it.key, () => ({ lease, now, limit: 64 }))
  await waitingBackends(database, 1)
  const url = 'https://127.0.0.1:1/moved'
  await database.pool.query('update webhooks set url = $1 where id = $2', [url, it.key.webhookId])
  await lock.release()
  const claim = await claiming
  expect(claim?.endpoint.url).toBe(url)
  expect(claim?.deliveries).toHaveLength(1)
})

test.each([
  ['an enabling', 200, (api: Api, path: string) => api.patch(path, { status: 'active' })],
  ['a deletion', 204, (api: Api, path: string) => api.delete(path)],
] as const)(
  '%s of the endpoint that meets a completion: neither waits for the other',
  async (_, status, change) => {
    await using it = await desk()
    // A failure, for the enabling to forget.
    it.answer(500)
    await makeCustomer(it.api)
    await it.engine.runDue()
    await makeCustomer(it.api)
    const now = it.clock.now()
    const lease = { id: randomUUID(), workerId: randomUUID(), until: now + 15 * second }
    const claim = await it.queues.claim(it.key, () => ({ lease, now, limit: 64 }))
    const results = claim!.deliveries.map((delivery) => succeeded(delivery, now))
    const health = { succeededAt: now, failures: 0, failedAt: null }
    // Both stop where they are about to change the record of its health.
    const lock = await lockRow(it.service.database, 'webhook_health', it.api)
    const changing = change(it.api, `/v1/webhooks/${it.key.webhookId}`)
    await waitingBackends(it.service.database, 1)
    const completion = { results, health, next: 'release', priority: 'responsive', known: [] } as const
    const completed = it.queues.complete({ ...it.key, leaseId: lease.id }, completion, now, lease.until)
    await waitingBackends(it.service.database, 2)
    await lock.release()
    expect(await completed).toMatchObject({ held: status === 200 })
    expect((await changing).status).toBe(status)
  },
)
