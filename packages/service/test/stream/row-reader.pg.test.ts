/** Rows by id are read for every GET and every change. */
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { customer } from '../../src/desk/customer/index.ts'
import { createRowReader } from '../../src/journal/rows.ts'

test('reading rows is planned once, not for each read; several at once are told apart', async () => {
  await using service = await testService()
  const { organizationId } = service.api
  const made = []
  for (let n = 0; n < 4; n++) made.push(await makeCustomer(service.api, { externalId: `crm "${n}", {a}` }))
  // So many that looking a few of them up costs less than looking ten up, as the planner takes an array that it cannot see.
  await service.database.pool.query(
    `insert into customers (organization_id, id, created_at, updated_at, body)
       select $1, gen_random_uuid(), t.at, t.at, '{}'
         from (select now() - n * interval '1 millisecond' as at from generate_series(1, 20000) n) t`,
    [organizationId],
  )
  await service.database.pool.query('analyze customers')
  const ids = made.map(({ id }) => id as string)
  // One connection, whose prepared statements can be seen.
  const pool = createPool(service.database.connection, { max: 1, onIdleError: () => {} })
  await using _end = { [Symbol.asyncDispose]: () => endPool(pool) }
  const rows = createRowReader(unshared(pool), customer.table)
  const bodies = async (asked: readonly string[]) =>
    (await Promise.all(asked.map((id) => rows.read(organizationId, id)))).map(
      (row) => row && JSON.parse(row.body),
    )
  for (let round = 0; round < 20; round++) {
    const asked = ids.slice(0, 1 + (round % ids.length))
    expect(await bodies(asked)).toEqual(made.slice(0, asked.length))
    const found = await rows.withUnique(
      organizationId,
      'external_id',
      made.slice(0, asked.length).map(({ externalId }) => externalId as string),
    )
    expect(found.map(({ id }) => id)).toEqual(asked)
  }
  expect(await bodies([ids[1]!, organizationId])).toEqual([made[1], null])
  const plans = await pool.query(
    "select s.name, s.custom_plans::int as custom from pg_prepared_statements s where s.name like 'read_%' order by s.name",
  )
  // The server plans again five times, to see what that gains, and from then on keeps to one plan.
  expect(plans.rows).toEqual([
    { name: 'read_customers', custom: 5 },
    { name: 'read_customers_by_external_id', custom: 5 },
  ])
})

test('what an import looks up costs the same however much it has brought: plans of an empty table stay good', async () => {
  await using service = await testService()
  const { organizationId } = service.api
  const { pool: all, connection } = service.database
  // As in the first minute of a new database: nothing has been counted yet.
  await all.query('alter table customers set (autovacuum_enabled = off)')
  const pool = createPool(connection, { max: 1, onIdleError: () => {} })
  await using _end = { [Symbol.asyncDispose]: () => endPool(pool) }
  const rows = createRowReader(unshared(pool), customer.table)
  const some = Array.from({ length: 50 }, (_, n) => `crm-${n * 100}`)
  const found = () => rows.withUnique(organizationId, 'external_id', some)
  for (let round = 0; round < 8; round++) expect(await found()).toEqual([])
  await all.query(
    `insert into customers (organization_id, id, created_at, updated_at, body, external_id)
       select $1, gen_random_uuid(), now(), now(), '{}', 'crm-' || n from generate_series(1, 5000) n`,
    [organizationId],
  )
  expect((await found()).length).toBe(49)
  const explained = await pool.query(
    `explain (analyze, buffers, format json)
       execute read_customers_by_external_id('${organizationId}', '{${some.join()}}')`,
  )
  const plan = explained.rows[0]['QUERY PLAN'][0].Plan
  // Three of the index and one of the table for each, or a little more: of all 5,000 rows there are several hundred.
  expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThanOrEqual(300)
})
