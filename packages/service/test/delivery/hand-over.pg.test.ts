/** What a commit hands over to the worker beside the API: a claim that needs no statement, and who gets none. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { EndpointQueues } from '../../src/delivery/endpoint-queues.ts'
import { claimsOf } from '../../src/delivery/hand-over.ts'
import { giveBackQueues } from '../../src/delivery/leases.ts'
import { type DueDeliveries, decodeDeliveries, encodeDeliveries } from '../../src/journal/notifier.ts'
import { testClock } from '../harness/clock.ts'
import { makeCustomer } from '../harness/desk.ts'
import { testEngine } from '../harness/engine.ts'
import { heldSend } from '../harness/held-send.ts'
import { dataOf, deliveriesOf, makeWebhook, second, signedBy } from '../harness/hooks.ts'
import { eventually } from '../harness/locks.ts'
import { testService } from '../harness/service.ts'

/** A service with a worker beside it that is told of commits once it takes them, and an endpoint. */
async function desk() {
  const clock = testClock()
  const told: DueDeliveries[] = []
  const id = randomUUID()
  const beside = {
    takes: false,
    tell: (due: DueDeliveries): void => {
      told.push(due)
    },
  }
  const worker = {
    get id() {
      return beside.takes ? id : null
    },
    leaseFor: 15 * second,
    tell(due: DueDeliveries) {
      beside.tell(due)
      return true
    },
  }
  const service = await testService({ clock, worker })
  const { api } = service
  const webhook = await makeWebhook(api)
  return {
    clock,
    service,
    api,
    webhook,
    told,
    beside,
    workerId: id,
    /** Queues that commits handed over so far, and those that they only told of. */
    handedOver: () => told.flatMap(({ handedOver }) => handedOver.flatMap(([, { queues }]) => queues)),
    hinted: () => told.flatMap(({ queues }) => queues),
    statuses: async () => (await deliveriesOf(api, webhook.id)).map(({ status }) => status),
    /** The endpoint has answered: from now on it is known to be well, and its worker takes what is handed over. */
    async proven(engine: ReturnType<typeof testEngine>['engine']) {
      await makeCustomer(api, { name: 'the first' })
      await engine.runDue()
      beside.takes = true
      told.length = 0
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

test('what is handed over is what a claim would have brought, and is sent without one', async () => {
  await using it = await desk()
  let claims = 0
  const counted = (queues: EndpointQueues): EndpointQueues => ({
    ...queues,
    claim: (...asked) => {
      claims++
      return queues.claim(...asked)
    },
  })
  const { engine, sent } = testEngine(it.service, it.clock, { through: counted })
  await it.proven(engine)
  it.beside.tell = (due) => engine.take(claimsOf(due))
  for (const name of ['Ada', 'Zoë 🦁']) {
    const before = sent.length
    const customer = await makeCustomer(it.api, { name })
    await eventually('it is sent and noted', async () => {
      const [delivery] = await deliveriesOf(it.api, it.webhook.id)
      return sent.length > before && delivery.status === 'succeeded'
    })
    expect(dataOf(sent.at(-1)!)).toBe((await it.api.get(`/v1/customers/${customer.id}`)).text)
    expect(await signedBy(sent.at(-1)!, [it.webhook.secret])).toEqual([it.webhook.secret])
  }
  expect(claims).toBe(1)
  expect(sent).toHaveLength(3)
})

test('a queue that is not known to be well, or has something waiting, is for a worker to look at', async () => {
  await using it = await desk()
  it.beside.takes = true
  // Nothing is known of it yet.
  await makeCustomer(it.api, { name: 'fresh' })
  expect(it.handedOver()).toEqual([])
  expect(it.hinted()).toMatchObject([{ webhookId: it.webhook.id, tier: 3 }])
  const { engine } = testEngine(it.service, it.clock)
  await it.proven(engine)
  it.beside.takes = false
  await makeCustomer(it.api, { name: 'waits' })
  it.beside.takes = true
  await makeCustomer(it.api, { name: 'behind it' })
  expect(it.handedOver()).toEqual([])
  await engine.runDue()
  expect(await it.statuses()).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded'])
  await makeCustomer(it.api, { name: 'taken' })
  expect(it.handedOver()).toHaveLength(1)
  // Its worker has it, and listens: it is told, and claims.
  await makeCustomer(it.api, { name: 'the next' })
  expect(it.handedOver()).toHaveLength(1)
  expect(it.hinted().at(-1)).toMatchObject({ webhookId: it.webhook.id })
})

test('what a worker has no room for it gives back, and it is found when there is room', async () => {
  await using it = await desk()
  const held = heldSend()
  const other = await makeWebhook(it.api, { url: 'https://127.0.0.1:1/other' })
  const { engine } = testEngine(it.service, it.clock, { send: held.send, concurrency: { total: 1 } })
  const { engine: roomy } = testEngine(it.service, it.clock)
  await it.proven(roomy)
  it.beside.tell = (due) => engine.take(claimsOf(due))
  await makeCustomer(it.api, { name: 'for both' })
  const first = await held.made(1)
  await eventually('one is given back', async () => {
    const { rows } = await it.service.database.pool.query('select 1 from lanes where lease_id is null')
    return rows.length === 1
  })
  first.answer(200)
  const last = await held.made(2)
  expect(last.url).not.toBe(first.url)
  last.answer(200)
  await eventually('both are noted', async () => {
    const logs = await Promise.all([it.webhook, other].map(({ id }) => deliveriesOf(it.api, id)))
    return logs.flat().every(({ status }) => status === 'succeeded')
  })
  await engine.stop()
  expect(held.attempts).toHaveLength(2)
})

test('what a worker was handed and never sent goes out when its leases are given back', async () => {
  await using it = await desk()
  const { engine, sent } = testEngine(it.service, it.clock)
  await it.proven(engine)
  await makeCustomer(it.api, { name: 'nobody reads of it' })
  expect(it.handedOver()).toHaveLength(1)
  await engine.runDue()
  expect(sent).toHaveLength(1)
  expect(await giveBackQueues(it.service.database.pool, it.workerId, it.clock.now())).toBe(1)
  await engine.runDue()
  expect(sent).toHaveLength(2)
  // And without anybody who knows of its death, when the lease ends.
  await makeCustomer(it.api, { name: 'once more' })
  it.clock.advance(15 * second)
  await engine.runDue()
  expect(await it.statuses()).not.toContain('pending')
})

test('a worker whose clock is a little behind sends what it is told of when it is due there', async () => {
  await using it = await desk()
  const { engine, sent } = testEngine(it.service, it.clock)
  await it.proven(engine)
  it.beside.takes = false
  await makeCustomer(it.api, { name: 'from the future' })
  it.clock.advance(-20)
  await engine.runDue()
  expect(sent).toHaveLength(1)
  engine.wake(it.clock.now() + 20)
  it.clock.advance(20)
  await eventually('it is sent', () => sent.length === 2)
  await engine.stop()
})

test('a notification says since when, and who was told; one of an earlier release says neither', () => {
  for (const said of [
    { at: 1_780_000_000_123, told: null },
    { at: 1_780_000_000_123, told: randomUUID() },
  ])
    expect(decodeDeliveries(encodeDeliveries(said))).toEqual(said)
  for (const payload of ['', 'large']) expect(decodeDeliveries(payload)).toEqual({ at: 0, told: null })
})
