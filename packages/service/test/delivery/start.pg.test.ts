/** How a worker starts with much pending: it sends at once, and looks for what a clock left in the future beside it. */
import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { hour, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { plant } from '../../../testbed/planted.ts'
import { testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { createEndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import { kinds } from '../../src/desk/index.ts'

test('what is due is sent though the search for what a clock left in the future takes its time', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await makeWebhook(service.api)
  await makeCustomer(service.api)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { engine, sent } = testEngine(service, clock, {
    through: (queues) => ({
      ...queues,
      wakeAfterClockSetBack: async (...asked) => {
        await answered
        return queues.wakeAfterClockSetBack(...asked)
      },
    }),
  })
  engine.start()
  try {
    await eventually('it is sent', () => sent.length === 1)
  } finally {
    answer()
    await engine.stop()
  }
})

test('a search that fails is made again, and what is due is sent meanwhile', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api, database } = service
  await makeWebhook(api)
  await plant(database.pool, {
    organizationId: api.organizationId,
    urls: ['https://127.0.0.1:1/'],
    backlog: 2_500,
    now: clock.now() + hour,
  })
  await makeCustomer(api)
  let searches = 0
  const { engine, sent } = testEngine(service, clock, {
    through: (queues) => ({
      ...queues,
      wakeAfterClockSetBack: async (...asked) => {
        searches++
        await queues.wakeAfterClockSetBack(asked[0], asked[1], (woken) => {
          asked[2](woken)
          if (searches === 1) throw new Error('the database had enough')
        })
      },
    }),
  })
  await engine.runDue()
  expect(searches).toBe(1)
  // The next sweep does this too.
  clock.advance(-2_000)
  await engine.runDue()
  expect(searches).toBe(2)
  expect(new Set(sent.map(({ headers }) => headers['x-service-event-id'])).size).toBe(2_501)
})

/** Rows of what is pending that this database has read. */
async function rowsRead(pool: Pool): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()')
  await pool.query('select pg_stat_clear_snapshot()')
  const { rows } = await pool.query<{ read: number }>(
    "select (coalesce(s.idx_tup_fetch, 0) + s.seq_tup_read)::int as read from pg_stat_user_tables s where s.relname = 'deliveries_pending'",
  )
  return rows[0]?.read ?? Number.NaN
}

test.each(['nothing of it', 'all'])(
  'each piece of the search reads no more than it may, of 40,000 pending, where the planner knows %s',
  async (analyzed) => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { organizationId } = service.api
    const pool = createPool(service.database.connection, { max: 1, onIdleError: () => {} })
    await using _end = { [Symbol.asyncDispose]: () => endPool(pool) }
    const urls = Array.from({ length: 4 }, (_, n) => `https://127.0.0.1:${n + 1}/`)
    await plant(pool, { organizationId, urls, backlog: 5_000, now: clock.now() })
    await plant(pool, { organizationId, urls, backlog: 5_000, now: clock.now() + 30 * minute })
    // Of these half wait for a retry, which stays where the log shows it.
    await pool.query(
      `update deliveries set attempt_count = 3 where next_attempt_at > $1 and right(id::text, 1) < '8'`,
      [new Date(clock.now() + minute).toISOString()],
    )
    if (analyzed === 'all') await pool.query('analyze')
    let most = 0
    let pieces = 0
    const measured = Object.assign(Object.create(pool) as Pool, {
      async query(statement: QueryConfig, values?: unknown[]) {
        const before = await rowsRead(pool)
        const result = await pool.query(statement, values)
        most = Math.max(most, (await rowsRead(pool)) - before)
        if (statement.name === 'find_pending_in_the_future') pieces++
        return result
      },
    })
    const tables = kinds.map(({ table }) => table)
    const queues = createEndpointQueues(unshared(measured), tables)
    let woken = 0
    await queues.wakeAfterClockSetBack(clock.now(), new AbortController().signal, (deliveries) => {
      woken += deliveries
    })
    expect(woken).toBeGreaterThan(0)
    const { rows } = await pool.query(
      `select count(*)::int as left from deliveries where next_attempt_at > $1 and attempt_count = 0`,
      [new Date(clock.now()).toISOString()],
    )
    expect(rows).toEqual([{ left: 0 }])
    expect(pieces).toBeGreaterThanOrEqual(12)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(6_000)
  },
)
