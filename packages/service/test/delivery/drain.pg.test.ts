/** Rounds that do not go as planned: deliveries that cannot be sent, endpoints disabled half-way, results twice. */

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'
import { createEndpointQueues, type EndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import { decide, foldHealth, noChange } from '../../src/delivery/verdict.ts'
import { kinds } from '../../src/desk/index.ts'

const hour = 3_600_000

async function endpoint(service: TestService): Promise<string> {
  const made = await service.api.post('/v1/webhooks', {
    url: 'https://127.0.0.1:1/hook',
    events: ['customer.created'],
  })
  expect(made.status).toBe(201)
  return made.json.id
}

async function createCustomers(service: TestService, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    expect((await service.api.post('/v1/customers', { name: `c${n}` })).status).toBe(201)
  }
}

async function statuses(service: TestService, webhookId: string) {
  const { data } = (await service.api.get(`/v1/webhooks/${webhookId}/deliveries?limit=100`)).json
  const of = (wanted: string) => data.filter(({ status }: { status: string }) => status === wanted).length
  return { succeeded: of('succeeded'), pending: of('pending'), failed: of('failed') }
}

const answered = (status: number): Awaited<ReturnType<Send>> => ({
  kind: 'answered',
  status,
  responseBody: '',
  durationMs: 1,
})

test('an endpoint that is disabled in the middle of a round gets nothing more of it', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  let sent = 0
  const send: Send = async () => {
    if (++sent > 17) await gate
    return answered(500)
  }
  const { engine } = testEngine(service, clock, { send })
  const webhookId = await endpoint(service)
  await createCustomers(service, 1)
  await engine.runDue()
  clock.advance(73 * hour)
  await createCustomers(service, 40)
  const running = engine.runDue()
  // Sixteen at once: the first have failed, the next wait for their answers, and the last are not begun.
  await eventually('the second sixteen are under way', () => sent >= 33)
  clock.advance(2_000)
  await eventually('the endpoint is disabled', async () => {
    const { json } = await service.api.get(`/v1/webhooks/${webhookId}`)
    return json.status === 'disabled'
  })
  const begun = sent
  open()
  await running
  expect(sent).toBe(begun)
  expect(await statuses(service, webhookId)).toEqual({ succeeded: 0, pending: 0, failed: 41 })
})

test('what was claimed is sent, however long the claim took', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const through = (queues: EndpointQueues): EndpointQueues => ({
    ...queues,
    async claim(...args) {
      const claim = await queues.claim(...args)
      clock.advance(5_000)
      return claim
    },
  })
  const { engine, sent } = testEngine(service, clock, { through })
  const webhookId = await endpoint(service)
  await createCustomers(service, 3)
  engine.start()
  await eventually('they are sent', () => sent.length === 3)
  await engine.stop()
  expect(await statuses(service, webhookId)).toEqual({ succeeded: 3, pending: 0, failed: 0 })
})

test('a lease lasts as long when its worker has waited for a connection', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { pool } = service.database
  const { engine } = testEngine(service, clock)
  const webhookId = await endpoint(service)
  await createCustomers(service, 1)
  const queues = createEndpointQueues(
    unshared(pool),
    kinds.map((kind) => kind.table),
  )
  const key = { organizationId: service.api.organizationId, webhookId }
  const asking = () => {
    const now = clock.now()
    return {
      lease: { id: randomUUID(), workerId: randomUUID(), until: now + 15_000 },
      now,
      limit: 10,
    }
  }
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const claims = queues.claim(key, asking)
  clock.advance(14_000)
  for (const client of clients) client.release()
  expect((await claims)?.deliveries).toHaveLength(1)
  clock.advance(14_000)
  expect(await engine.runDue()).toBe(0)
  clock.advance(1_000)
  expect(await engine.runDue()).toBe(1)
})

test('a result that is completed twice counts once', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { pool } = service.database
  const webhookId = await endpoint(service)
  await createCustomers(service, 1)
  const queues = createEndpointQueues(
    unshared(pool),
    kinds.map((kind) => kind.table),
  )
  const now = clock.now()
  const key = { organizationId: service.api.organizationId, webhookId }
  const lease = { id: randomUUID(), workerId: randomUUID(), until: now + 15_000 }
  const claim = await queues.claim(key, () => ({ lease, now, limit: 10 }))
  const [delivery] = claim!.deliveries
  const verdict = decide({ ...delivery!, isControl: false }, answered(500), now, {
    delays: [60_000, 60_000],
    random: 0,
  })
  const result = { delivery: delivery!, verdict, startedAt: now, endedAt: now, responseStatus: 500 }
  const round = {
    results: [{ ...result, url: '', responseBody: '', durationMs: 1, lostHandshake: false }],
    health: foldHealth(noChange, verdict, now),
    next: 'keep' as const,
    priority: 'healthy' as const,
    known: [],
  }
  for (let n = 0; n < 2; n++)
    expect((await queues.complete(claim!, round, now, now + 15_000)).held).toBe(true)
  const { rows } = await pool.query(
    `select d.status, d.attempt_count, (select count(*)::int from attempts) as earlier from deliveries d`,
  )
  expect(rows).toEqual([{ status: 'pending', attempt_count: 1, earlier: 0 }])
})
