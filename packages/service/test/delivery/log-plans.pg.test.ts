/** The log stays quick as it grows: pages and totals of one endpoint and of all are read by index, whatever the filter, and touch few blocks. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { day } from '../../../testbed/hooks.ts'
import { callFunction } from '../../src/db/call-function.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { createDeliveryLog, logStatuses } from '../../src/delivery/log/log.ts'
import { missedFunction } from '../../src/delivery/queue/functions.ts'
import { makeLogWeeks } from '../../src/retention/log-weeks.ts'

const now = Date.parse('2026-03-31T12:00:00.000Z')

const logOf = (pool: Pool) =>
  createDeliveryLog(unshared(pool), () => Promise.reject(new Error('the log is only read here')))
const rows = 100_000
const endpoint = {
  organizationId: '01980000-0000-7000-8000-000000000001',
  webhookId: '01980000-0000-7000-8000-000000000002',
}

const beside = '01980000-0000-7000-8000-000000000003'

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

/**
 * Thirty days of one endpoint: one in ten failed, a pending one among a hundred, and a type that is rare. Before it, of each of
 * two thousand others, ten.
 */
async function seed(pool: Pool, analyzed: 'before it' | 'after it'): Promise<void> {
  for (let at = now - 30 * day; at <= now; at += 7 * day) await makeLogWeeks(pool, at)
  await pool.query(
    `insert into organizations (organization_id, name, created_at, updated_at) values ($1, 'Long', now(), now())`,
    [endpoint.organizationId],
  )
  const insert = (organizationId: string, webhookId: string, count: number) =>
    pool.query(
      `insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
          subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, delivered_at, created_at, updated_at)
        select ${organizationId}, new_uuid_v7(r.at), ${webhookId},
            case when r.status = 'pending' then 'infinity' else (r.at at time zone 'UTC')::date end, new_uuid_v7(r.at),
            case when r.n % 10000 = 3 then 'ticket.deleted' else 'customer.created' end, r.at, 'customer', gen_random_uuid(),
            r.status, 'current', 1, 6, case when r.status = 'pending' then r.at end,
            case when r.status = 'succeeded' then r.at end, r.at, r.at
          from (select n, $1::timestamptz - n * ($2 || ' milliseconds')::interval as at,
              case when n % 100 = 7 then 'pending' when n % 10 = 1 then 'failed' else 'succeeded' end as status
            from generate_series(1, $3) as n) r`,
      [new Date(now).toISOString(), (29 * day) / count, count],
    )
  const other = "md5((r.n % 2000)::text || '')::uuid"
  // Beside it, of its organization, another that has a few, and one that has none.
  await pool.query(
    `insert into webhooks (organization_id, id, url, events, status, api_key_id, created_at, updated_at)
      select $1, e.id, 'https://example.com', '{customer.created}', 'active', $1, now(), now() from unnest($2::uuid[]) e(id)`,
    [endpoint.organizationId, [endpoint.webhookId, beside, endpoint.organizationId]],
  )
  await insert(`'${endpoint.organizationId}'`, `'${beside}'`, 100)
  await insert(other, other, 20_000)
  if (analyzed === 'before it') await pool.query('analyze deliveries')
  await insert(`'${endpoint.organizationId}'`, `'${endpoint.webhookId}'`, rows)
  await pool.query(analyzed === 'after it' ? 'vacuum (analyze) deliveries' : 'vacuum deliveries')
}

/** Asks as a pool does, and notes how each statement went, once it was planned. */
function explaining(pool: Pool): { readonly pool: Pool; readonly plans: Plan[] } {
  const plans: Plan[] = []
  const query = async (text: string, values: unknown[]) => {
    const answer = await pool.query(text, values)
    const explained = await pool.query(`explain (analyze, buffers, format json) ${text}`, values)
    plans.push(explained.rows[0]['QUERY PLAN'][0].Plan)
    return answer
  }
  return { pool: { query } as unknown as Pool, plans }
}

test.each(['before it', 'after it'] as const)(
  'a page and its total touch few blocks, whatever the filter and the offset, analyzed %s',
  async (analyzed) => {
    await using database = await testDatabase()
    await seed(database.pool, analyzed)
    // One connection, which has planned what is explained.
    const one = createPool(database.connection, { max: 1, onIdleError: () => {} })
    await using _end = { [Symbol.asyncDispose]: () => endPool(one) }
    const at = (days: number) => new Date(now - days * day).toISOString()
    const asked = [null, ...logStatuses].flatMap((status) =>
      [null, 'customer.created', 'ticket.deleted'].flatMap((eventType) =>
        [0, 5000].flatMap((offset) =>
          [endpoint.webhookId, null].flatMap((webhookId) =>
            [[null, null] as const, [at(20), at(19)] as const].map(([createdAfter, createdBefore]) => ({
              filter: { status, eventType, createdAfter, createdBefore, eventId: null },
              offset,
              webhookId,
            })),
          ),
        ),
      ),
    )
    for (const { filter, offset, webhookId } of asked) {
      const { pool, plans } = explaining(one)
      const page = await logOf(pool).page(
        { ...endpoint, webhookId },
        filter,
        { limit: 20, offset },
        now - 30 * day,
      )
      const what = JSON.stringify({ filter, offset, webhookId })
      const { createdAfter, createdBefore } = filter
      for (const { created_at } of page.rows) {
        if (createdAfter !== null) expect(created_at.toISOString() > createdAfter, what).toBe(true)
        if (createdBefore !== null) expect(created_at.toISOString() < createdBefore, what).toBe(true)
      }
      expect(page.rows.length, what).toBe(Math.max(0, Math.min(20, page.total - offset)))
      const ids = page.rows.map(({ id }) => id)
      expect(ids, what).toEqual(ids.toSorted().reverse())
      for (const plan of plans) {
        const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
        // All the rows are in some 2,500 blocks, and each of their indexes in some 1,000.
        expect(blocks, `${what} ${JSON.stringify(plan).slice(0, 400)}`).toBeLessThan(600)
      }
    }
    const {
      rows: [sought],
    } = await database.pool.query('select event_id, id from deliveries where webhook_id = $1 limit 1', [
      beside,
    ])
    const { pool, plans } = explaining(one)
    const none = { status: null, eventType: null, createdAfter: null, createdBefore: null }
    const found = await logOf(pool).page(
      { ...endpoint, webhookId: null },
      { ...none, eventId: sought.event_id },
      { limit: 20, offset: 0 },
      now - 30 * day,
    )
    expect(found.rows.map(({ id }) => id)).toEqual([sought.id])
    await callFunction(pool, missedFunction, [endpoint.organizationId, endpoint.webhookId, at(0), at(30)])
    for (const plan of plans)
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], JSON.stringify(plan)).toBeLessThan(150)
  },
)
