/** Rounds that do not go as planned: deliveries that cannot be sent, endpoints disabled half-way, results twice. */

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { answered, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { hour } from '../../../testbed/hooks.ts'
import type { Api } from '../../../testbed/service.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'
import type { EndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import { decide, foldHealth, noChange } from '../../src/delivery/verdict.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

async function createCustomers(api: Api, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await makeCustomer(api)
}

async function statuses({ log }: { log: () => Promise<{ status: string }[]> }) {
  const data = await log()
  const of = (wanted: string) => data.filter(({ status }) => status === wanted).length
  return { succeeded: of('succeeded'), pending: of('pending'), failed: of('failed') }
}

test('an endpoint that is disabled in the middle of a round gets nothing more of it', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service, api } = it
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  let sent = 0
  const send: Send = async () => {
    if (++sent > 17) await gate
    return answered(500)
  }
  const { engine } = testEngine(service, clock, { send })
  await createCustomers(api, 1)
  await engine.runDue()
  clock.advance(73 * hour)
  await createCustomers(api, 40)
  const running = engine.runDue()
  // Sixteen at once: the first have failed, the next wait for their answers, and the last are not begun.
  await eventually('the second sixteen are under way', () => sent >= 33)
  clock.advance(2_000)
  await eventually('the endpoint is disabled', async () => (await it.read()).status === 'disabled')
  const begun = sent
  open()
  await running
  expect(sent).toBe(begun)
  expect(await statuses(it)).toEqual({ succeeded: 0, pending: 0, failed: 41 })
})

test('what was claimed is sent, however long the claim took', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service, api } = it
  const through = (queues: EndpointQueues): EndpointQueues => ({
    ...queues,
    async claim(...args) {
      const claim = await queues.claim(...args)
      clock.advance(5_000)
      return claim
    },
  })
  const { engine, sent } = testEngine(service, clock, { through })
  await createCustomers(api, 3)
  engine.start()
  await eventually('they are sent', () => sent.length === 3)
  await engine.stop()
  expect(await statuses(it)).toEqual({ succeeded: 3, pending: 0, failed: 0 })
})

test('a lease lasts as long when its worker has waited for a connection', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service, api, pool, endpoint } = it
  const { engine, queues } = testEngine(service, clock)
  await createCustomers(api, 1)
  const asking = () => {
    const now = clock.now()
    return {
      lease: { id: randomUUID(), workerId: randomUUID(), until: now + 15_000 },
      now,
      limit: 10,
    }
  }
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const claims = queues.claim(endpoint, asking)
  clock.advance(14_000)
  for (const client of clients) client.release()
  expect((await claims)?.deliveries).toHaveLength(1)
  clock.advance(14_000)
  expect(await engine.runDue()).toBe(0)
  clock.advance(1_000)
  expect(await engine.runDue()).toBe(1)
})

test('a result that is completed twice counts once', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service, api, pool, endpoint } = it
  await createCustomers(api, 1)
  const { queues } = testEngine(service, clock)
  const now = clock.now()
  const lease = { id: randomUUID(), workerId: randomUUID(), until: now + 15_000 }
  const claim = await queues.claim(endpoint, () => ({ lease, now, limit: 10 }))
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
    priority: 'responsive' as const,
    known: [],
  }
  for (let n = 0; n < 2; n++)
    expect((await queues.complete(claim!, round, now, now + 15_000)).held).toBe(true)
  const { rows } = await pool.query(
    `select d.status, d.attempt_count, (select count(*)::int from attempts) as earlier from deliveries d`,
  )
  expect(rows).toEqual([{ status: 'pending', attempt_count: 1, earlier: 0 }])
})
