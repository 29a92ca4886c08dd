/** What a worker does with the queues that a commit tells it of, and what becomes of those that it is never told of. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { dataOf, deliveriesOf, makeWebhook, signedBy } from '../../../testbed/hooks.ts'
import { type DueQueue, priorities } from '../../src/delivery/model.ts'
import type { EndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import type { DueQueues } from '../../src/journal/notifier.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

/** A service with an endpoint, and a worker next to it that `tell` may stand for. */
async function desk() {
  const told: DueQueues[] = []
  const id = randomUUID()
  const worker = { tell: (_: DueQueues): void => {} }
  const notifyWorker = (due: DueQueues) => {
    told.push(due)
    worker.tell(due)
    return id
  }
  const it = await deskWithEndpoint({}, { notifyWorker })
  return { ...it, told, worker, statuses: async () => (await it.log()).map(({ status }) => status) }
}

function queuesIn({ queues }: DueQueues): DueQueue[] {
  return queues.map(({ priority, ...queue }) => ({
    ...queue,
    priority: priorities[priority] as DueQueue['priority'],
  }))
}

/** Counts the statements that search and that claim. */
function counting() {
  const counts = { searches: 0, claims: 0 }
  const through = (queues: EndpointQueues): EndpointQueues => ({
    ...queues,
    findDue: (...asked) => {
      counts.searches++
      return queues.findDue(...asked)
    },
    claim: (...asked) => {
      counts.claims++
      return queues.claim(...asked)
    },
  })
  return { counts, through }
}

test('claims a queue that it is told of without a search', async () => {
  await using it = await desk()
  const { counts, through } = counting()
  const { engine, sent } = testEngine(it.service, it.clock, { through })
  await makeCustomer(it.api, { name: 'the first, so that the endpoint is known to answer' })
  await testEngine(it.service, it.clock).engine.runDue()
  it.worker.tell = (due) => engine.drain(queuesIn(due), due.at)
  for (const [n, name] of ['Ada', 'Zoë 🦁', 'Grace'].entries()) {
    const customer = await makeCustomer(it.api, { name })
    await eventually('it is sent and noted', async () => {
      const [delivery] = await it.log()
      return sent.length > n && delivery.status === 'succeeded'
    })
    expect(dataOf(sent.at(-1)!)).toBe((await it.api.get(`/v1/customers/${customer.id}`)).text)
    expect(await signedBy(sent.at(-1)!, [it.webhook.secret])).toEqual([it.webhook.secret])
  }
  await engine.stop()
  expect(sent).toHaveLength(3)
  expect(counts).toEqual({ searches: 0, claims: 3 })
})

test('a commit notifies of an idle queue once until it is claimed, and its worker each time, without a new version of its row', async () => {
  await using it = await desk()
  const woken = () => it.told.flatMap(({ queues }) => queues.map(({ worker }) => worker))
  await makeCustomer(it.api, { name: 'first' })
  await makeCustomer(it.api, { name: 'due already' })
  expect(woken()).toEqual([null])
  const held = heldSend()
  const workerId = randomUUID()
  const { engine } = testEngine(it.service, it.clock, { send: held.send, workerId })
  const running = engine.runDue()
  await held.made(2)
  const version = async () =>
    (await it.service.database.pool.query('select q.ctid, q.xmin from endpoint_queues q')).rows
  const before = await version()
  for (const name of ['while attempts hang', 'and again']) await makeCustomer(it.api, { name })
  expect(woken()).toEqual([null, workerId, workerId])
  expect(await version()).toEqual(before)
  for (const attempt of held.inFlight()) attempt.answer(200)
  await held.made(4)
  for (const attempt of held.inFlight()) attempt.answer(200)
  await running
  expect(await it.statuses()).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded'])
})

test('a worker that hears of commits keeps the queue of a healthy endpoint, and releases it when it stops', async () => {
  await using it = await desk()
  const { counts, through } = counting()
  const { engine, sent } = testEngine(it.service, it.clock, { through })
  await makeCustomer(it.api, { name: 'the first, so that the endpoint is known to answer' })
  await testEngine(it.service, it.clock).engine.runDue()
  engine.hears = true
  it.worker.tell = (due) => engine.drain(queuesIn(due), due.at)
  const row = async () =>
    (
      await it.service.database.pool.query(
        'select q.lease_id, q.due_at, q.ctid::text as version from endpoint_queues q',
      )
    ).rows[0]
  const versions = new Set<string>()
  for (let n = 1; n <= 4; n++) {
    await makeCustomer(it.api, { name: `number ${n}` })
    await eventually('it is noted', async () => {
      const found = await it.statuses()
      return found.length === n + 1 && found.every((status) => status === 'succeeded')
    })
    versions.add((await row()).version)
  }
  expect(versions.size).toBe(1)
  expect(engine.inFlight).toBe(0)
  await engine.stop()
  expect(await row()).toMatchObject({ lease_id: null, due_at: null })
  expect(sent).toHaveLength(4)
  expect(counts).toEqual({ searches: 0, claims: 4 })
})

test('a queue that another worker holds is left to it', async () => {
  await using it = await desk()
  await makeCustomer(it.api, { name: 'first' })
  const held = heldSend()
  const holder = testEngine(it.service, it.clock, { send: held.send })
  const running = holder.engine.runDue()
  await held.made(1)
  const { counts, through } = counting()
  const { engine } = testEngine(it.service, it.clock, { through })
  it.worker.tell = (due) => engine.drain(queuesIn(due), due.at)
  await makeCustomer(it.api, { name: 'meanwhile' })
  expect(it.told).toHaveLength(2)
  held.inFlight()[0]?.answer(200)
  ;(await held.made(2)).answer(200)
  await running
  await engine.stop()
  expect(counts).toEqual({ searches: 0, claims: 0 })
})

test('a queue that it has no capacity for when it is told is found once there is some', async () => {
  await using it = await desk()
  const held = heldSend()
  const other = await makeWebhook(it.api, { url: 'https://127.0.0.1:1/other' })
  const { engine } = testEngine(it.service, it.clock, { send: held.send, concurrency: { total: 1 } })
  await makeCustomer(it.api, { name: 'the first, so that both are known to answer' })
  await testEngine(it.service, it.clock).engine.runDue()
  it.worker.tell = (due) => engine.drain(queuesIn(due), due.at)
  await makeCustomer(it.api, { name: 'for both' })
  const first = await held.made(1)
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

test('finds a queue that a worker was told of and never claimed', async () => {
  await using it = await desk()
  await makeCustomer(it.api, { name: 'its worker ended before it read this' })
  expect(it.told).toHaveLength(1)
  const { engine, sent } = testEngine(it.service, it.clock)
  await engine.runDue()
  expect(sent).toHaveLength(1)
  expect(await it.statuses()).toEqual(['succeeded'])
})

test('a worker whose clock is a little behind sends what it is told of when it is due there', async () => {
  await using it = await desk()
  await makeCustomer(it.api, { name: 'from the future' })
  it.clock.advance(-20)
  const { engine, sent } = testEngine(it.service, it.clock)
  await engine.runDue()
  expect(sent).toHaveLength(0)
  for (const due of it.told) engine.drain(queuesIn(due), due.at)
  it.clock.advance(20)
  await eventually('it is sent', () => sent.length === 1)
  await engine.stop()
})
