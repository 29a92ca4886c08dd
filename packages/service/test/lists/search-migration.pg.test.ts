/** A database of before the index entries had their organization in front: what was found then is found now. */
import { expect, test } from 'vitest'
import { applyWithin, migrate } from '../../src/db/migrate.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { schemaOf } from '../../src/schema.ts'
import { testDatabase } from '../harness/database.ts'
import { createEarlierOrganization } from '../harness/earlier-organization.ts'
import { testService } from '../harness/service.ts'

const schema = schemaOf()
const before = schema.migrations
  .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  .filter(({ id }) => id < '20261122-10-search-vector')

test('words and tags that were written before are found after the upgrade', async () => {
  await using database = await testDatabase({ template: null })
  const { pool } = database
  await applyWithin(pool, before)
  const { organizationId, token } = await createEarlierOrganization(pool, 'Old')
  const rows = [
    { search: 'ada lovelace ada example com', tags: ['vip', 'two words', '100%'] },
    { search: 'grace hopper', tags: [] },
    { search: '', tags: ["it's"] },
    { search: `${'x'.repeat(300)} short ${'wort '.repeat(80)}end`, tags: ['long'] },
    { search: '', tags: [] },
  ].map((row, n) => ({
    ...row,
    id: newId(systemClock),
    at: new Date(Date.UTC(2026, 0, 1 + n)).toISOString(),
  }))
  for (const { id, at, search, tags } of rows) {
    const body = JSON.stringify({ id, object: 'customer', organizationId, createdAt: at, updatedAt: at })
    await pool.query(
      `insert into customers (organization_id, id, created_at, updated_at, body) values ($1, $2, $3, $3, $4)`,
      [organizationId, id, at, body],
    )
    await pool.query(
      `insert into customers_words (organization_id, id, tags, search) values ($1, $2, $3, $4)`,
      [organizationId, id, tags, search],
    )
  }

  expect((await migrate(pool, schema)).length).toBe(schema.migrations.length - before.length)

  await using service = await testService({ database })
  const api = service.withToken(token)
  const found = async (query: string) => {
    const { json } = await api.get(`/v1/customers?${query}`)
    expect(json.pagination.total).toBe(json.data.length)
    return json.data.map(({ id }: { id: string }) => rows.findIndex((row) => row.id === id))
  }
  expect(await found('q=ada+love')).toEqual([0])
  expect(await found('q=hopp')).toEqual([1])
  expect(await found(`q=${'x'.repeat(300)}+end`)).toEqual([3])
  expect(await found('q=shor&tag=long')).toEqual([3])
  expect(await found('tag=two%20words')).toEqual([0])
  expect(await found('tag=100%25')).toEqual([0])
  expect(await found('tag=it%27s')).toEqual([2])
  expect(await found('q=vip')).toEqual([])
  // In the order of creation, newest first, as the rows themselves.
  expect(await found('createdAfter=2020-01-01T00:00:00Z')).toEqual([4, 3, 2, 1, 0])
  const left = await pool.query(`select c.relname from pg_class c where c.relname like '%words_before%'`)
  expect(left.rows).toEqual([])
})
