/** What a request reads does not grow with the tables, also where the connection planned when they were empty and nobody has analyzed them since. */
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { type Answer, type Api, testService } from '../../../testbed/service.ts'

const rows = 20_000
/** Of one table and its indexes; the smallest index of a grown one has more than a hundred blocks. */
const maxBlocks = 60
/** More than the five after which PostgreSQL stops to plan a statement anew for its values. */
const warmUps = 8

test('requests read a few blocks of tables that have grown to 20,000 rows without an analyze', async () => {
  // One connection, which keeps its plans.
  await using database = await testDatabase({ max: 1 })
  await using service = await testService({ database })
  const { pool } = database
  const { api } = service
  const grown = ['customers', 'customers_words', 'tickets', 'events_default', 'idempotency_keys']
  for (const table of grown) await pool.query(`alter table ${table} set (autovacuum_enabled = off)`)

  // Each call has a customer and a ticket of its own: of a row that is changed again and again, a lookup reads all versions that
  // a snapshot of anybody's, as of an autovacuum, keeps from being pruned.
  const each = <T>(make: (n: number) => T) => Array.from({ length: warmUps + 2 }, (_, n) => make(n))
  const customers = await batch(
    api,
    '/v1/customers/batch',
    each((n) => ({ name: 'Ada', externalId: `kept${n}` })),
  )
  const tickets = await batch(
    api,
    '/v1/tickets/batch',
    each((n) => ({ subject: 'Kept', customerId: customers[n] })),
  )
  const endpoint = { url: 'https://127.0.0.1:1/', events: ['customer.updated'] }
  expect((await api.post('/v1/webhooks', endpoint)).status).toBe(201)
  const { json: page } = await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z')
  /** The requests, each with the number of its call. */
  const requests: Record<string, (n: number) => Promise<Answer>> = {
    GET: (n) => api.get(`/v1/customers/${customers[n]}`),
    PATCH: (n) => api.patch(`/v1/customers/${customers[n]}`, { name: 'Grace', email: `e${n}@example.com` }),
    'PATCH of a ticket': (n) => api.patch(`/v1/tickets/${tickets[n]}`, { subject: `Subject ${n}` }),
    POST: (n) => api.post('/v1/customers', { name: 'New', email: `p${n}@example.com`, externalId: `p${n}` }),
    'POST with a key': (n) =>
      api.post('/v1/tickets', { subject: 'New', customerId: customers[n] }, { 'Idempotency-Key': `k${n}` }),
    'DELETE with dependents': async () => {
      const { id } = await makeCustomer(api)
      expect((await api.post('/v1/tickets', { subject: 'Goes too', customerId: id })).status).toBe(201)
      return api.delete(`/v1/customers/${id}`)
    },
    'batch of upserts': (n) =>
      api.post('/v1/customers/batch', {
        operation: 'upsert',
        items: [{ externalId: `kept${n}`, name: 'Upserted' }],
      }),
    'sync page': () => api.get(`/v1/customers?cursor=${page.pagination.nextCursor}&limit=10`),
  }
  for (let n = 0; n < warmUps; n++)
    for (const [what, request] of Object.entries(requests)) {
      const { status, text } = await request(n)
      expect(status, `${what}: ${text}`).toBeLessThan(300)
    }

  await pool.query(
    `with made as (
        insert into customers (organization_id, id, created_at, updated_at, body, email, external_id)
          select $1, gen_random_uuid(), t.at, t.at, '{"name":"' || repeat('x', 200) || '"}', n || '@example.org', 'c' || n
            from (select n, now() - n * interval '1 millisecond' as at from generate_series(1, $2::int) n) t
          returning id, created_at),
      words as (
        insert into customers_words (organization_id, id, created_at, terms) select $1, m.id, m.created_at, 'x' from made m),
      events as (
        insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
          select $1, gen_random_uuid(), 'customer.created', m.created_at, 'customer', m.id, '{}' from made m),
      keys as (
        insert into idempotency_keys
            (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, created_at)
          select $1, k.id, 'POST', '/v1/tickets', m.id::text, '', 201, m.id, '{}', m.created_at
            from made m, api_keys k where k.organization_id = $1)
      insert into tickets (organization_id, id, created_at, updated_at, body, number, status, priority, customer_id)
        select $1, m.id, m.created_at, m.created_at, '{"subject":"' || repeat('x', 200) || '"}',
            1000 + row_number() over (), 'new', 'normal', m.id from made m`,
    [api.organizationId, rows],
  )

  const blocks = async () => {
    await pool.query('select pg_stat_force_next_flush()')
    await pool.query('select pg_stat_clear_snapshot()')
    const counted = await pool.query<{ table: string; blocks: number }>(
      `select s.relname as table, (s.heap_blks_hit + s.heap_blks_read
          + coalesce(s.idx_blks_hit + s.idx_blks_read, 0))::int as blocks from pg_statio_user_tables s`,
    )
    return new Map(counted.rows.map(({ table, blocks }) => [table, blocks]))
  }
  for (const [what, request] of Object.entries(requests)) {
    // The first has the pages of its indexes to split, perhaps.
    await request(warmUps)
    const before = await blocks()
    const { status } = await request(warmUps + 1)
    expect(status, what).toBeLessThan(300)
    const after = await blocks()
    for (const table of grown)
      expect((after.get(table) ?? 0) - (before.get(table) ?? 0), `${what}, ${table}`).toBeLessThan(maxBlocks)
  }
})

/** Creates objects in one request. Returns their ids. */
async function batch(api: Api, path: string, items: readonly object[]): Promise<string[]> {
  const { json } = await api.post(path, { items })
  expect(json).toMatchObject({ created: items.length })
  return json.data.map(({ id }: { id: string }) => id)
}
