/** Clocks that are set forwards and back by an hour, and workers that do not agree on what time it is. */
import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { lifeless, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { attemptsOf, hour, makeWebhook, minute, readWebhook, retry, second } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import { followDatabaseClock } from '../../src/db/clock.ts'
import { deskWithEndpoint } from './desk.fixture.ts'
import { namesFrom, desk as recoveryDesk } from './recovery.fixture.ts'

async function desk() {
  const it = await deskWithEndpoint()
  return {
    ...it,
    async queues() {
      const { rows } = await it.pool.query('select due_at, lease_until, worker_id from endpoint_queues')
      return rows
    },
  }
}

const idle = { due_at: null, lease_until: null, worker_id: null }

test('set back: what was committed before is delivered at once, and not in an hour', async () => {
  await using it = await desk()
  const { engine, sent } = testEngine(it.service, it.clock)
  await engine.runDue()
  await makeCustomer(it.api, { name: 'before' })
  it.clock.advance(-hour)
  await makeCustomer(it.api, { name: 'after' })
  await engine.runDue()
  expect(sent).toHaveLength(2)
  expect((await it.log()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  expect(await it.queues()).toEqual([idle])
})

test('set back before a worker starts: the first look finds out', async () => {
  await using it = await desk()
  await makeCustomer(it.api)
  it.clock.advance(-hour)
  const { engine, sent } = testEngine(it.service, it.clock)
  await engine.runDue()
  expect(sent).toHaveLength(1)
})

test('set back while a retry waits: it comes when the log says, and the log says so', async () => {
  await using it = await desk()
  const { engine, sent, answer } = testEngine(it.service, it.clock)
  answer(500, 200)
  await makeCustomer(it.api)
  await engine.runDue()
  const [{ nextAttemptAt }] = await it.log()
  it.clock.advance(-hour)
  await engine.runDue()
  expect(await it.log()).toMatchObject([{ status: 'pending', nextAttemptAt }])
  it.clock.set(Date.parse(nextAttemptAt))
  await engine.runDue()
  expect(sent).toHaveLength(2)
  expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 2 }])
})

test.each([1, -1])(
  'set by %i h in the middle of attempts: they are completed once, and nothing is stuck',
  async (by) => {
    await using it = await desk()
    const held = heldSend()
    const { engine } = testEngine(it.service, it.clock, { send: held.send })
    for (let n = 0; n < 3; n++) await makeCustomer(it.api)
    const running = engine.runDue()
    await held.made(3)
    it.clock.advance(by * hour)
    held.attempts[0]?.answer(200)
    held.attempts[1]?.answer(200)
    held.attempts[2]?.answer(500)
    await running
    const [failed] = (await it.log()).filter(({ status }) => status === 'pending')
    expect(failed.nextAttemptAt).toBe(new Date(it.clock.now() + minute).toISOString())
    it.clock.advance(minute)
    const again = engine.runDue()
    await held.made(4)
    held.attempts[3]?.answer(200)
    await again
    expect(held.attempts).toHaveLength(4)
    for (const row of await it.log()) {
      expect(row.status).toBe('succeeded')
      for (const { durationMs } of await attemptsOf(it.api, row)) expect(durationMs).toBeGreaterThanOrEqual(0)
    }
    expect(await it.queues()).toEqual([idle])
    expect(await readWebhook(it.api, it.id)).toMatchObject({ status: 'active', failureCount: 0 })
  },
)

test('a lease that a dead worker took while its clock was ahead lasts no longer for it', async () => {
  await using it = await desk()
  await makeCustomer(it.api)
  const ahead = testClock(it.clock.now() + hour)
  const dead = heldSend()
  const lost = testEngine(it.service, ahead, { send: dead.send, concurrency: lifeless }).engine.runDue()
  await dead.made(1)
  const { engine, sent, queues } = testEngine(it.service, it.clock)
  it.clock.advance(minute)
  expect(await engine.runDue()).toBe(0)
  expect(await queues.sweep(it.clock.now(), minute)).toBe(1)
  expect(await engine.runDue()).toBe(1)
  expect(sent).toHaveLength(1)
  dead.attempts[0]?.answer(500)
  await lost
  expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 1 }])
  expect(await it.queues()).toEqual([idle])
})

test('set back after a retry by hand: it is delivered at once, and not in an hour', async () => {
  await using it = await desk()
  const { engine, sent, answer } = testEngine(it.service, it.clock)
  answer(500)
  await makeCustomer(it.api)
  for (let attempt = 0; attempt < 6; attempt++) {
    await engine.runDue()
    it.clock.advance(9 * hour)
  }
  // It looks all the time, and so notices.
  await engine.runDue()
  const [failed] = await it.log()
  expect((await retry(it.api, failed)).status).toBe(202)
  it.clock.advance(-hour)
  await engine.runDue()
  expect(sent).toHaveLength(7)
  // Its retries come when the log says.
  const [{ nextAttemptAt }] = await it.log()
  expect(nextAttemptAt).toBe(at(it.clock.now() + minute))
  it.clock.advance(-hour)
  await engine.runDue()
  expect(await it.log()).toMatchObject([{ status: 'pending', attemptCount: 7, nextAttemptAt }])
})

describe('set back while a recovery', () => {
  /** One that has an event to bring back. */
  async function recovering() {
    const it = await recoveryDesk(['customer.created'])
    await it.engine.runDue()
    await it.disable()
    await makeCustomer(it.api, { name: 'missed' })
    await it.enable()
    const { json } = await it.recover({ since: at(it.clock.now() - minute) })
    return { ...it, recoveryId: json.id as string }
  }

  test.each([
    ['is due', async () => {}],
    [
      'waits for its endpoint',
      async (it: Awaited<ReturnType<typeof recovering>>) => {
        await it.disable()
        await it.deliveryJobs.runDue()
        await it.enable()
      },
    ],
  ])('%s: it goes on at once, and not in an hour', async (_, happens) => {
    await using it = await recovering()
    await happens(it)
    it.clock.advance(-hour)
    await it.engine.runDue()
    await it.work()
    expect(await it.recovery(it.recoveryId)).toMatchObject({ status: 'done', created: 1 })
    expect(namesFrom(it, 0)).toEqual(['missed'])
  })

  test('waits as it may: it is left until then', async () => {
    await using it = await recovering()
    await it.disable()
    await it.deliveryJobs.runDue()
    await it.enable()
    it.clock.advance(-2 * second)
    await it.engine.runDue()
    expect(await it.deliveryJobs.runDue()).toBe(0)
    it.clock.advance(minute + 2 * second)
    await it.work()
    expect(await it.recovery(it.recoveryId)).toMatchObject({ status: 'done', created: 1 })
  })
})

test('three workers an hour apart: everything arrives, is completed once, and no queue is left leased', async () => {
  await using it = await desk()
  for (let n = 0; n < 3; n++) await makeWebhook(it.api)
  const engines = [-hour, 0, hour].map((skew) => {
    const clock = { now: () => it.clock.now() + skew }
    return { clock, ...testEngine(it.service, clock) }
  })
  for (const { engine } of engines) engine.start()
  for (let n = 0; n < 30; n++) await makeCustomer(it.api, { name: `number ${n}` })
  const { pool } = it.service.database
  const pending = async () => {
    const { rows } = await pool.query(
      `select count(*)::int as pending from deliveries where status = 'pending'`,
    )
    return rows[0].pending as number
  }
  await eventually('nothing is pending', async () => (await pending()) === 0)
  await Promise.all(engines.map(({ engine }) => engine.stop()))
  const { rows } = await pool.query(
    `select d.status, d.attempt_count, count(a.number)::int as earlier from deliveries d
       left join attempts a on a.organization_id = d.organization_id and a.delivery_id = d.id
       group by d.id, d.organization_id, d.status, d.attempt_count`,
  )
  expect(rows).toHaveLength(120)
  for (const row of rows) expect(row).toEqual({ status: 'succeeded', attempt_count: 1, earlier: 0 })
  const sent = engines.flatMap((engine) => engine.sent)
  expect(sent.length).toBeGreaterThanOrEqual(120)
  // No worker that was behind left anything in the future.
  for (const queue of await it.queues()) expect(queue).toMatchObject({ lease_until: null, worker_id: null })
})

test('a process keeps the time of the database, whatever its machine says', async () => {
  await using service = await testService()
  const { pool } = service.database
  let ahead = hour
  const asked: string[] = []
  const skewed = {
    query: async (text: string) => {
      asked.push(text)
      const { rows } = await pool.query(text)
      return { rows: rows.map(({ now }) => ({ now: String(Number(now) + ahead) })) }
    },
  } as unknown as typeof pool
  const clock = followDatabaseClock(skewed)
  await clock.ready
  const difference = clock.now() - Date.now()
  expect(Math.abs(difference - hour)).toBeLessThan(minute)
  clock.stop()
  ahead = 0
  expect(clock.now() - Date.now()).toBeGreaterThan(hour / 2)
  expect(asked).toHaveLength(3)
})
