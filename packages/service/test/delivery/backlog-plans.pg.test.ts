/** What a round costs does not grow with what else is pending at its endpoint, whatever the planner thinks of how much that is. */

import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { succeeded } from '../../../testbed/attempt-result.ts'
import { testClock } from '../../../testbed/clock.ts'
import { plant } from '../../../testbed/planted.ts'
import { testService } from '../../../testbed/service.ts'
import type { LocalSettings } from '../../src/db/client.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import type { AttemptResult, ClaimedDelivery } from '../../src/delivery/model.ts'
import { createEndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import { noChange } from '../../src/delivery/verdict.ts'
import { kinds } from '../../src/desk/index.ts'
import { poolSettings } from '../../src/roles/worker.ts'

const backlog = 20_000
const size = 64

/** Rows of what is pending that this database has read, by an index or from one end to the other. */
async function rowsRead(pool: Pool): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()')
  await pool.query('select pg_stat_clear_snapshot()')
  const { rows } = await pool.query<{ read: number }>(
    "select (coalesce(s.idx_tup_fetch, 0) + s.seq_tup_read)::int as read from pg_stat_user_tables s where s.relname = 'deliveries_pending'",
  )
  return rows[0]?.read ?? Number.NaN
}

type Known = 'never' | 'before' | 'after'

/** An endpoint with a backlog, and one connection, which says what it has read. `analyzed`: when the planner's statistics are from. */
async function withBacklog(analyzed: Known, settings: LocalSettings) {
  await using stack = new AsyncDisposableStack()
  const clock = testClock()
  const service = stack.use(await testService({ clock }))
  const { organizationId } = service.api
  const pool = createPool(service.database.connection, { max: 1, settings, onIdleError: () => {} })
  stack.defer(() => endPool(pool))
  if (analyzed === 'before') await pool.query('analyze')
  const now = clock.now()
  const urls = ['https://127.0.0.1:1/']
  const [endpoint] = await plant(pool, { organizationId, urls, backlog, now })
  if (analyzed === 'after') await pool.query('analyze')
  const queues = createEndpointQueues(
    unshared(pool),
    kinds.map(({ table }) => table),
  )
  const key = { organizationId, webhookId: endpoint!.id }
  const lease = { id: randomUUID(), workerId: randomUUID(), until: now + 15_000 }
  const claim = (limit: number, known: readonly string[]) =>
    queues.claim(key, () => ({ lease, now, limit }), known)
  const complete = (results: readonly AttemptResult[], known: readonly string[]) =>
    queues.complete(
      { ...key, leaseId: lease.id },
      { results, health: noChange, next: 'keep', priority: 'responsive', known },
      now,
      lease.until,
    )
  const owned = stack.move()
  return { pool, now, claim, complete, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test.each([
  ['nothing of it', 'never', {}],
  ['of a queue that was empty', 'before', {}],
  ['all', 'after', {}],
  ['of a queue that was empty, and plans as for a worker', 'before', poolSettings],
] as const)(
  'a round of 64 reads a few rows for each, of 20,000 pending, where the planner knows %s',
  async (_, analyzed, settings) => {
    await using endpoint = await withBacklog(analyzed, settings)
    const { pool, now } = endpoint
    // More rounds than the five that PostgreSQL plans again in any case.
    const rounds = 8
    const before = await rowsRead(pool)
    let known: ClaimedDelivery[] = []
    for (let round = 0; round < rounds; round++) {
      const ids = known.map(({ id }) => id)
      const claim = await endpoint.claim(size, ids)
      expect(claim?.deliveries).toHaveLength(size)
      const results = known.map((delivery) => succeeded(delivery, now))
      known = [...claim!.deliveries]
      const completed = await endpoint.complete(
        results,
        known.map(({ id }) => id),
      )
      expect(completed).toMatchObject({ held: true, due: now })
    }
    const read = (await rowsRead(pool)) - before
    const left = await pool.query("select count(*)::int as n from deliveries d where d.status = 'pending'")
    expect(left.rows).toEqual([{ n: backlog - (rounds - 1) * size }])
    expect(read).toBeGreaterThan(rounds * size)
    expect(read).toBeLessThan(rounds * size * 10)
  },
)
