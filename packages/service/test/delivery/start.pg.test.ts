/** How a worker starts with much pending: it sends at once, and looks for what a clock left in the future beside it. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { hour, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { plant } from '../../../testbed/planted.ts'
import { testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { createEndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import type { QueuePosition } from '../../src/delivery/queue/sweep.ts'
import { kinds } from '../../src/desk/index.ts'

const { encryptionKey } = deliverySettings

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

test('a search that fails goes on where it was, and what is due is sent meanwhile', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api, database } = service
  await makeWebhook(api)
  await plant(database.pool, {
    organizationId: api.organizationId,
    encryptionKey,
    urls: ['https://127.0.0.1:1/'],
    backlog: 2_500,
    now: clock.now() + hour,
  })
  await makeCustomer(api)
  const places: (QueuePosition | null)[] = []
  const { engine, sent } = testEngine(service, clock, {
    through: (queues) => ({
      ...queues,
      wakeAfterClockSetBack: async (now, place) => {
        places.push(place)
        if (places.length === 2) throw new Error('the database had enough')
        return queues.wakeAfterClockSetBack(now, place)
      },
    }),
  })
  await engine.runDue()
  expect(places).toHaveLength(2)
  // The next sweep does this too.
  clock.advance(-2_000)
  await engine.runDue()
  // The first piece was not done again.
  expect(places[2]).toEqual(places[1])
  expect(places.filter((place) => place === null)).toHaveLength(1)
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
    await plant(pool, { organizationId, encryptionKey, urls, backlog: 5_000, now: clock.now() })
    await plant(pool, { organizationId, encryptionKey, urls, backlog: 5_000, now: clock.now() + 30 * minute })
    // Of these half wait for a retry, which stays where the log shows it.
    await pool.query(
      `update deliveries set attempt_count = 3 where next_attempt_at > $1 and right(id::text, 1) < '8'`,
      [new Date(clock.now() + minute).toISOString()],
    )
    if (analyzed === 'all') await pool.query('analyze')
    const queues = createEndpointQueues(
      unshared(pool),
      kinds.map(({ table }) => table),
    )
    let most = 0
    let pieces = 0
    for (let place: QueuePosition | null = null; ; pieces++) {
      const before = await rowsRead(pool)
      const { next } = await queues.wakeAfterClockSetBack(clock.now(), place)
      most = Math.max(most, (await rowsRead(pool)) - before)
      place = next
      if (place === null) break
    }
    const { rows } = await pool.query(
      `select count(*)::int as left from deliveries where next_attempt_at > $1 and attempt_count = 0`,
      [new Date(clock.now()).toISOString()],
    )
    expect(rows).toEqual([{ left: 0 }])
    expect(pieces).toBeGreaterThanOrEqual(16)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(6_000)
  },
)
