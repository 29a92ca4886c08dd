/** A drain reads on from where it was, and misses nothing, whatever becomes due behind it and however far clocks are apart. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { failed, succeeded } from '../../../testbed/attempt-result.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { minute, retry, second } from '../../../testbed/hooks.ts'
import type { ClaimedDelivery } from '../../src/delivery/model.ts'
import { commitDelivery } from '../../src/delivery/queue/functions.ts'
import { goBackTo, type ReadPosition, readOn, unread } from '../../src/delivery/queue/read-position.ts'
import { kinds } from '../../src/desk/index.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

/** A service with an endpoint, and workers that claim and complete as drains do; their clock is `at`, the API's `clock`. */
async function desk() {
  const it = await deskWithEndpoint()
  const { clock, service, api, pool, endpoint: key } = it
  const { queues } = testEngine(service, clock)

  function drain(workerId = randomUUID()) {
    const leaseId = randomUUID()
    const held = new Map<string, ClaimedDelivery>()
    let position: ReadPosition = unread
    return {
      held,
      get position() {
        return position
      },
      /** Null when another worker holds the queue. */
      async claim(limit = 64, now = clock.now()): Promise<readonly ClaimedDelivery[] | null> {
        const lease = { id: leaseId, workerId, until: now + minute }
        const claim = await queues.claim(key, () => ({ lease, now, limit, position }), [...held.keys()])
        if (claim === null) return null
        const { rewinds, deliveries } = claim
        for (const delivery of deliveries) held.set(delivery.id, delivery)
        position = readOn(position, { rewinds, deliveries, isFull: deliveries.length === limit, now })
        return deliveries
      },
      drop(delivery: ClaimedDelivery) {
        held.delete(delivery.id)
        position = goBackTo(position, [delivery])
      },
      async complete(
        results: readonly ReturnType<typeof succeeded>[],
        next: 'keep' | 'release' = 'keep',
        now = clock.now(),
      ) {
        for (const { delivery } of results) held.delete(delivery.id)
        const health = { succeededAt: null, failures: 0, failedAt: null }
        const known = next === 'release' ? [] : [...held.keys()]
        const read = next === 'release' ? goBackTo(position, held.values()) : position
        const completion = { results, health, next, priority: 'responsive', known, position: read } as const
        return queues.complete({ ...key, leaseId }, completion, now, now + minute)
      },
    }
  }
  return {
    ...it,
    key,
    drain,
    make: () => makeCustomer(api),
    async row() {
      const { rows } = await pool.query<{ read_to: Date | null; rewinds: number; version: string }>(
        'select q.read_to, q.rewinds, q.ctid::text as version from endpoint_queues q where q.webhook_id = $1',
        [key.webhookId],
      )
      return rows[0]!
    },
    /** Pending deliveries that are due at that time. */
    async due(now: number): Promise<string[]> {
      const { rows } = await pool.query<{ id: string }>(
        `select d.id from deliveries d where d.webhook_id = $1 and d.log_day = 'infinity' and d.next_attempt_at <= $2`,
        [key.webhookId, new Date(now).toISOString()],
      )
      return rows.map(({ id }) => id)
    },
  }
}

/** A retry is due `delay` later. */
const retried = (delivery: ClaimedDelivery, now: number, delay: number) => {
  const result = failed(delivery, now)
  return { ...result, verdict: { ...result.verdict, status: 'pending' as const, nextAttemptAt: now + delay } }
}

test('claims and completions of a queue with work leave its row as it is', async () => {
  await using it = await desk()
  await it.make()
  const worker = it.drain()
  expect(await worker.claim()).toHaveLength(1)
  const { version } = await it.row()
  for (let n = 0; n < 5; n++) {
    await worker.complete([...worker.held.values()].map((delivery) => succeeded(delivery, it.clock.now())))
    await it.make()
    it.clock.advance(second)
    expect(await worker.claim()).toHaveLength(1)
  }
  expect((await it.row()).version).toBe(version)
  it.clock.advance(30 * second)
  await worker.claim()
  expect((await it.row()).version).not.toBe(version)
})

test('a commit under way while it claims is behind what it has read, and is found', async () => {
  await using it = await desk()
  await it.make()
  const worker = it.drain()
  expect(await worker.claim()).toHaveLength(1)
  it.clock.advance(10)
  const under = await it.service.database.pool.connect()
  try {
    const now = new Date(it.clock.now()).toISOString()
    const [newDelivery, ...functions] = commitDelivery(kinds.map(({ table }) => table))
    const createDeliveries = functions.at(-1)
    await under.query('begin')
    await under.query(
      `select ${createDeliveries?.name}(o.organization_id, $2, $2, array(select w.id from webhooks w where w.organization_id = $1),
         array[(null, null, $3, 'customer.created', $2, 'customer', $3, 1, null, null, null, null)::${newDelivery?.name}])
         from organizations o where o.organization_id = $1`,
      [it.key.organizationId, now, randomUUID()],
    )
    // It is stamped before what the worker looks for, and not yet visible.
    it.clock.advance(second)
    expect(await worker.claim()).toHaveLength(0)
    await under.query('commit')
  } finally {
    under.release()
  }
  expect(await worker.claim()).toHaveLength(1)
})

test.each([300, 3 * second, 60 * minute])(
  'commits of a process whose clock is %i ms behind the others are found at once',
  async (apart) => {
    await using it = await desk()
    it.clock.advance(apart)
    await it.make()
    const worker = it.drain()
    expect(await worker.claim()).toHaveLength(1)
    it.clock.advance(-apart)
    for (let n = 0; n < 3; n++) {
      await it.make()
      // By the clock that is behind, too.
      expect(await worker.claim(64, it.clock.now())).toHaveLength(1)
    }
  },
)

test('a retry by hand, a resend, a ping and what is retried now are found behind what it has read', async () => {
  await using it = await desk()
  const worker = it.drain()
  const path = `/v1/webhooks/${it.key.webhookId}`
  await it.make()
  await it.make()
  const [first, second_] = (await worker.claim())!
  const now = it.clock.now()
  await worker.complete([failed(first!, now), succeeded(second_!, now)])
  it.clock.advance(second)
  await it.make()
  const [third] = (await worker.claim())!
  await worker.complete([retried(third!, it.clock.now(), minute)])
  it.clock.advance(-second)
  const log = await it.log()
  const of = (status: string) => log.find((delivery) => delivery.status === status)
  expect((await retry(it.api, of('failed'))).status).toBe(202)
  expect(await worker.claim()).toMatchObject([{ id: first!.id }])
  expect((await it.api.post(`${path}/deliveries/${of('succeeded').id}/resend`, undefined)).status).toBe(202)
  expect(await worker.claim()).toHaveLength(1)
  expect((await it.api.post(`${path}/ping`, undefined)).status).toBe(202)
  expect(await worker.claim()).toHaveLength(1)
  const { queues } = testEngine(it.service, it.clock)
  expect(await queues.retryNow(it.key, it.clock.now(), 100)).toBe(1)
  expect(await worker.claim()).toMatchObject([{ id: third!.id }])
})

test('the next lease reads on where the last was released, and begins again after one that was lost', async () => {
  await using it = await desk()
  const [first, second_] = [it.drain(), it.drain()]
  await it.make()
  const [delivery] = (await first.claim())!
  await first.complete([succeeded(delivery!, it.clock.now())], 'release')
  const { read_to: released } = await it.row()
  expect(released).not.toBeNull()
  it.clock.advance(second)
  await it.make()
  expect(await second_.claim()).toHaveLength(1)
  // It dies, and its lease runs out.
  it.clock.advance(2 * minute)
  const third = it.drain()
  expect(await third.claim()).toHaveLength(1)
  expect((await it.row()).read_to).toEqual(released)
  expect(await second_.claim()).toBeNull()
})

/** A small generator of numbers, so that a failure names the seed that repeats it. */
function numbers(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test.each(Array.from({ length: 8 }, (_, n) => n + 1))(
  'whatever happens, in whatever order: a claim that is not full leaves nothing that is due (seed %i)',
  async (seed) => {
    await using it = await desk()
    const next = numbers(seed)
    let worker = it.drain()
    const any = () => [...worker.held.values()][next(Math.max(1, worker.held.size))]
    const acts: (() => Promise<unknown>)[] = [
      async () => it.clock.advance(next(3 * second)),
      async () => it.clock.advance(-next(2 * second)),
      it.make,
      it.make,
      it.make,
      async () => {
        const delivery = any()
        if (delivery !== undefined) await worker.complete([succeeded(delivery, it.clock.now())])
      },
      async () => {
        const delivery = any()
        if (delivery !== undefined) await worker.complete([failed(delivery, it.clock.now())])
      },
      async () => {
        const delivery = any()
        const delay = [0, 1, 500, 5 * second][next(4)] as number
        if (delivery !== undefined) await worker.complete([retried(delivery, it.clock.now(), delay)])
      },
      async () => {
        const delivery = any()
        if (delivery !== undefined) worker.drop(delivery)
      },
      async () => {
        const ended = (await it.log()).filter(({ status }) => status === 'failed')
        if (ended.length > 0) await retry(it.api, ended[next(ended.length)])
      },
      async () => it.api.post(`/v1/webhooks/${it.key.webhookId}/ping`, undefined),
      async () => {
        await worker.complete([], 'release')
        worker = it.drain()
      },
      async () => {
        // The worker dies.
        it.clock.advance(2 * minute)
        worker = it.drain()
      },
    ]
    for (let step = 0; step < 60; step++) {
      await (acts[next(acts.length)] as () => Promise<unknown>)()
      const limit = 1 + next(4)
      const now = it.clock.now()
      const claimed = await worker.claim(limit, now)
      // Another worker held it by a clock that was ahead, or nothing is due.
      if (claimed === null || claimed.length === limit) continue
      expect(
        (await it.due(now)).filter((id) => !worker.held.has(id)),
        `step ${step}`,
      ).toEqual([])
    }
  },
)
