/** The log stays quick as it grows: pages and totals are read by index, whatever the filter, and touch few blocks. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { makeLogWeeks } from '../../src/log-weeks.ts'
import { createDeliveryLog, type LogFilter } from '../../src/webhooks/log.ts'
import { type TestDatabase, testDatabase } from '../harness/database.ts'
import { day } from '../harness/hooks.ts'

const now = Date.parse('2026-03-31T12:00:00.000Z')
const rows = 100_000
const endpoint = {
  organizationId: '01980000-0000-7000-8000-000000000001',
  webhookId: '01980000-0000-7000-8000-000000000002',
}

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

/** Thirty days of one endpoint: one in ten failed, a pending one among a hundred, and a type that is rare. */
async function seeded(): Promise<TestDatabase> {
  const database = await testDatabase()
  for (let at = now - 30 * day; at <= now; at += 7 * day) await makeLogWeeks(database.pool, at)
  await database.pool.query(
    `insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, delivered_at, created_at, updated_at)
      select $1, new_uuid_v7(r.at), $2, case when r.status = 'pending' then 'infinity' else (r.at at time zone 'UTC')::date end,
          new_uuid_v7(r.at), case when r.n % 10000 = 3 then 'ticket.deleted' else 'customer.created' end, r.at, 'customer',
          gen_random_uuid(), r.status, 'current', 1, 6, case when r.status = 'pending' then r.at end,
          case when r.status = 'succeeded' then r.at end, r.at, r.at
        from (select n, $3::timestamptz - n * ($4 || ' milliseconds')::interval as at,
            case when n % 100 = 7 then 'pending' when n % 10 = 1 then 'failed' else 'succeeded' end as status
          from generate_series(1, $5) as n) r`,
    [endpoint.organizationId, endpoint.webhookId, new Date(now).toISOString(), (29 * day) / rows, rows],
  )
  await database.pool.query('vacuum (analyze) deliveries')
  return database
}

/** A pool that tells how each statement went. */
function explaining(pool: Pool): { readonly pool: Pool; readonly plans: Plan[] } {
  const plans: Plan[] = []
  const query = async (text: string, values: unknown[]) => {
    const explained = await pool.query(`explain (analyze, buffers, format json) ${text}`, values)
    plans.push(explained.rows[0]['QUERY PLAN'][0].Plan)
    return pool.query(text, values)
  }
  return { pool: { query } as unknown as Pool, plans }
}

test('a page and its total touch few blocks, whatever the filter', async () => {
  await using database = await seeded()
  const filters: LogFilter[] = [null, 'pending', 'succeeded', 'failed'].flatMap((status) =>
    [null, 'customer.created', 'ticket.deleted'].map((eventType) => ({ status, eventType })),
  )
  for (const filter of filters) {
    const { pool, plans } = explaining(database.pool)
    const page = await createDeliveryLog(pool).page(
      endpoint,
      filter,
      { limit: 20, offset: 0 },
      now - 30 * day,
    )
    expect(page.rows.length, JSON.stringify(filter)).toBe(Math.min(20, page.total))
    expect(page.rows.map(({ id }) => id)).toEqual(
      page.rows
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    )
    for (const plan of plans) {
      const what = `${JSON.stringify(filter)} ${JSON.stringify(plan).slice(0, 400)}`
      const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
      // All the rows are in some 2,500 blocks, and each of their indexes in some 1,000.
      expect(blocks, what).toBeLessThan(400)
    }
  }
})
