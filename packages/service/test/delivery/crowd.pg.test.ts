/** Many endpoints that hang, or are flooded, beside one that is well; and searches that step over none of them. */
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { answered, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { deliveriesOf, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { plant } from '../../../testbed/planted.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'
import { createEndpointQueues, searchStatement } from '../../src/delivery/queue/endpoint-queues.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'
import { kinds } from '../../src/desk/index.ts'

const { foundAtOnce, betweenStarts } = deliveryTuning.engine
const concurrency = { total: 24, unproven: 4, unresponsive: 8 }
const well = 'https://127.0.0.1:1/well'

/** A service with a healthy endpoint, and sick ones of another organization whose attempts hang. */
async function crowd(sick: number, backlog: number) {
  const clock = testClock()
  const service = await testService({ clock })
  const { api, database } = service
  const webhook = await makeWebhook(api, { url: well })
  const { organizationId } = await service.newOrganization()
  const urls = Array.from({ length: sick }, (_, n) => `https://127.0.0.1:1/sick/${n}`)
  await plant(database.pool, { organizationId, urls, backlog, now: clock.now() })
  const held = heldSend()
  const send: Send = (request) => {
    if (request.url === well) return Promise.resolve(answered(200))
    return held.send(request)
  }
  const { engine } = testEngine(service, clock, { send, concurrency })
  const stop = async () => {
    const stopped = engine.stop()
    let over = false
    void stopped.then(() => {
      over = true
    })
    while (!over) {
      for (const attempt of held.inFlight()) attempt.answer(200)
      await new Promise(setImmediate)
    }
  }
  return {
    clock,
    service,
    held,
    engine,
    /** A change is made, and arrives, whatever else is going on. */
    async delivers() {
      await makeCustomer(api)
      engine.wake()
      await eventually('the healthy endpoint has all of its own', async () =>
        (await deliveriesOf(api, webhook.id)).every(({ status }) => status === 'succeeded'),
      )
    },
    [Symbol.asyncDispose]: async () => {
      await stop()
      await service[Symbol.asyncDispose]()
    },
  }
}

describe('forty backlogs', () => {
  /** The maximum number of attempts under way at once. */
  async function maxAtOnce(): Promise<number> {
    const clock = testClock()
    await using service = await testService({ clock })
    const { organizationId } = await service.newOrganization()
    const urls = Array.from({ length: 40 }, (_, n) => `https://127.0.0.1:${n + 1}/quick`)
    await plant(service.database.pool, { organizationId, urls, backlog: 64, now: clock.now() })
    const counts = { most: 0, sent: 0 }
    const waiting: (() => void)[] = []
    // Answers come by turns, a few in each: a worker all of whose attempts ended in the same turn would have time for as many more.
    const answers = setInterval(() => {
      for (const answer of waiting.splice(0, 8)) answer()
    })
    const send: Send = async () => {
      const answered = new Promise<void>((resolve) => waiting.push(resolve))
      counts.most = Math.max(counts.most, waiting.length)
      await answered
      counts.sent++
      return { kind: 'answered', status: 200, responseBody: '', durationMs: 10_000 }
    }
    const { engine } = testEngine(service, clock, { send })
    await engine.runDue()
    clearInterval(answers)
    await engine.stop()
    expect(counts.sent).toBe(40 * 64)
    return counts.most
  }

  test('of receivers that take their time have many attempts under way', async () => {
    expect(await maxAtOnce()).toBeGreaterThan(320)
  })
})

test.each([
  ['unproven', 1],
  ['unresponsive', 2],
] as const)('%s queues begin one after another, each once', async (name, priority) => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { organizationId } = await service.newOrganization()
  const urls = Array.from({ length: 80 }, (_, n) => `https://127.0.0.1:1/new/${n}`)
  await plant(service.database.pool, { organizationId, urls, backlog: 1, now: clock.now() })
  await service.database.pool.query('update endpoint_queues set priority = $1', [priority])
  const began: { url: string; at: number }[] = []
  const send: Send = async ({ url }) => {
    began.push({ url, at: performance.now() })
    return answered(200)
  }
  const { engine } = testEngine(service, clock, { send })
  const since = performance.now()
  engine.wake()
  await eventually('each was tried', () => began.length >= urls.length)
  await engine.stop()
  expect(new Set(began.map(({ url }) => url)).size).toBe(began.length)
  expect(Math.max(...began.map(({ at }) => at)) - since).toBeGreaterThan(
    (urls.length - 3) * betweenStarts[name] * 0.9,
  )
})

test.each([
  ['a handshake made in vain ends the drain of its endpoint', true, 15],
  ['a refusal does not', false, 3],
])('%s', async (_what, handshake, drains) => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { organizationId } = await service.newOrganization()
  const { pool } = service.database
  const urls = ['/a', '/b', '/c'].map((path) => `https://127.0.0.1:1${path}`)
  await plant(pool, { organizationId, urls, backlog: 5, now: clock.now() })
  await pool.query('update endpoint_queues set priority = 2 where organization_id = $1', [organizationId])
  let attempts = 0
  const send: Send = async () => {
    attempts++
    return { kind: 'failed', code: 'connection_failed', message: '', durationMs: 1, handshake }
  }
  const { engine } = testEngine(service, clock, { send })
  expect(await engine.runDue()).toBe(drains)
  expect(attempts).toBe(15)
})

describe('a healthy endpoint is delivered to at once', () => {
  test('while more endpoints than a worker has room for are known to hang', async () => {
    await using it = await crowd(60, 1)
    // Their first attempts time out; then it is known.
    it.engine.wake()
    for (let timedOut = 0; timedOut < 60; ) {
      await it.held.made(timedOut + 1)
      for (const attempt of it.held.inFlight()) {
        attempt.fail('timeout')
        timedOut++
      }
    }
    await eventually('all of them are failing', async () => {
      const queues = await standing(it.service.database.pool)
      return queues.every(({ priority, held }) => priority === 2 && !held) && queues.length === 60
    })
    it.clock.advance(minute)
    it.engine.wake()
    await it.held.made(60 + concurrency.unresponsive)
    for (let n = 0; n < 3; n++) await it.delivers()
    expect(it.held.inFlight()).toHaveLength(concurrency.unresponsive)
    // Each gets its turn: those that wait get the places of those that are through.
    const retried = () => new Set(it.held.attempts.slice(60).map(({ url }) => url)).size
    await eventually('every one was tried again', () => {
      for (const attempt of it.held.inFlight()) attempt.fail('timeout')
      return retried() === 60
    })
  })

  test('while endpoints with a backlog keep their share of the worker busy', async () => {
    await using it = await crowd(60, 40)
    it.engine.wake()
    // More of them than there are permits; none of them is known to have a backlog.
    await it.held.made(concurrency.unproven)
    const flood = setInterval(() => it.held.inFlight().at(0)?.answer(200), 1)
    for (let n = 0; n < 5; n++) await it.delivers()
    clearInterval(flood)
    const { attempts, inFlight } = it.held
    const served = new Set(attempts.map(({ url }) => url)).size
    expect(served).toBeGreaterThan(concurrency.total)
    expect(inFlight().length).toBeGreaterThan(0)
  })
})

test('an attempt that hangs holds up nothing else of its endpoint, neither a backlog nor what comes in', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const webhook = await makeWebhook(api)
  const held = heldSend()
  const send: Send = async (request) =>
    JSON.parse(request.body).data.name === 'hangs' ? held.send(request) : answered(200)
  const { engine } = testEngine(service, clock, { send })
  await makeCustomer(api, { name: 'hangs' })
  for (let n = 0; n < 90; n++) await makeCustomer(api)
  engine.wake()
  const arrived = (count: number) =>
    eventually(`${count} arrive`, async () => {
      // What is completed late is completed when so much time has passed, by the clock.
      clock.advance(1_000)
      const all = await deliveriesOf(api, webhook.id, '&status=succeeded')
      return all.length === count
    })
  await arrived(90)
  await makeCustomer(api)
  engine.wake()
  await arrived(91)
  expect(held.inFlight()).toHaveLength(1)
  held.inFlight()[0]?.answer(200)
  await engine.stop()
  expect(await deliveriesOf(api, webhook.id, '&status=succeeded')).toHaveLength(92)
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Index Name'?: string
  readonly Plans?: readonly Plan[]
}

/** Every node of a statement's plan, with what it really did. */
async function nodesOf(pool: Pool, text: string, values: unknown[]): Promise<Plan[]> {
  const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values)
  const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)]
  return flatten(rows[0]['QUERY PLAN'][0].Plan)
}

test('no search steps over queues at work or waiting, and no claim over another backlog', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { pool } = service.database
  const now = clock.now()
  const planted = (api: { organizationId: string }, name: string, count: number, backlog: number) => {
    const urls = Array.from({ length: count }, (_, n) => `https://127.0.0.1:1/${name}/${n}`)
    return plant(pool, { organizationId: api.organizationId, urls, backlog, now })
  }
  // Dead endpoints with 30,000 due among them, 3,000 queues at work, and three healthy endpoints.
  const dead = await planted(await service.newOrganization(), 'dead', 300, 100)
  await pool.query('update endpoint_queues set priority = 2')
  await planted(await service.newOrganization(), 'at-work', 3_000, 1)
  await pool.query(
    `update endpoint_queues set priority = 0, lease_id = gen_random_uuid(), worker_id = gen_random_uuid(), lease_until = $1, due_at = $1
       where not (webhook_id = any($2))`,
    [new Date(now + 15_000), dead.map(({ id }) => id)],
  )
  const healthy = await planted(service.api, 'well', 3, 2)
  await pool.query('update endpoint_queues set priority = 0 where webhook_id = any($1)', [
    healthy.map(({ id }) => id),
  ])
  await pool.query('analyze')

  const search = (open: readonly boolean[]) =>
    nodesOf(pool, searchStatement, [new Date(now), randomUUID(), ...open])
  const open = await search([true, true, false])
  expect(open[0]?.['Actual Rows']).toBe(3)
  const all = await search([true, true, true])
  expect(all[0]?.['Actual Rows']).toBe(foundAtOnce.unresponsive + 3)
  for (const node of [...open, ...all]) {
    expect(node['Node Type']).not.toBe('Seq Scan')
    expect(node['Rows Removed by Filter'] ?? 0).toBe(0)
  }

  const tables = kinds.map(({ table }) => table)
  const queues = createEndpointQueues(unshared(pool), tables)
  const lease = { id: randomUUID(), workerId: randomUUID(), until: now + 15_000 }
  for (const [owner, endpoint, count] of [
    [service.api.organizationId, healthy[0]!, 2],
    [await ownerOf(pool, dead[7]!.id), dead[7]!, 16],
  ] as const) {
    const key = { organizationId: owner, webhookId: endpoint.id }
    const claim = await queues.claim(key, () => ({ lease, now, limit: 16 }))
    expect(claim?.deliveries).toHaveLength(count)
    // The same claim by its own words: as many rows as it claims, from the index.
    const nodes = await nodesOf(
      pool,
      `select d.id from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity'
         and d.next_attempt_at <= $3 and d.id <> all($4::uuid[]) order by d.next_attempt_at, d.id limit 16`,
      [owner, endpoint.id, new Date(now), []],
    )
    expect(nodes.some((node) => node['Index Name'] === 'deliveries_pending_due')).toBe(true)
    for (const node of nodes) expect(node['Actual Rows']).toBeLessThanOrEqual(16)
  }
})

async function ownerOf(pool: Pool, webhookId: string): Promise<string> {
  const { rows } = await pool.query('select w.organization_id from webhooks w where w.id = $1', [webhookId])
  return rows[0].organization_id
}

async function standing(pool: TestService['database']['pool']) {
  const { rows } = await pool.query<{ priority: number; held: boolean }>(
    `select l.priority, l.lease_id is not null as held from endpoint_queues l
       join webhooks w on w.organization_id = l.organization_id and w.id = l.webhook_id where w.url like '%/sick/%'`,
  )
  return rows
}
