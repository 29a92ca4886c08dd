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

test('words with marks that were torn apart are whole after the upgrade', async () => {
  await using database = await testDatabase({ template: null })
  const { pool } = database
  const earlier = schema.migrations.filter(({ id }) => id < '20261125-20')
  await migrate(pool, { migrations: earlier, functions: [] })
  const organizations = [
    await createEarlierOrganization(pool, 'One'),
    await createEarlierOrganization(pool, 'Two'),
  ]
  const names = ['हिमानी', 'हमनशीं', 'José Ada', 'Ada Lovelace', 'שָׁלוֹם']
  const stored = async () =>
    (
      await pool.query<{ name: string; terms: string; row: string }>(
        `select t.body::jsonb->>'name' as name, w.terms, w.xmin::text as row from customers_words w
           join customers t on t.organization_id = w.organization_id and t.id = w.id
           where t.body::jsonb->>'name' = any($1) order by w.organization_id, w.id`,
        [names],
      )
    ).rows
  for (const { organizationId } of organizations) {
    // More than a piece looks at, and the others among them.
    const all = [...Array.from({ length: 1_100 }, (_, n) => `Row ${n}`), ...names]
    const objects = all.map((name, n) => {
      const terms = [
        '#vip',
        ...(name
          .normalize('NFKC')
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? []),
      ].join(' ')
      const id = `0000${(n * 37) % 9973}`.slice(-4).concat('0000-0000-4000-8000-000000000000')
      return { id, terms, body: JSON.stringify({ id, object: 'customer', name, tags: ['vip'] }) }
    })
    await pool.query(
      `with made as (
         insert into customers (organization_id, id, created_at, updated_at, body)
           select $1, o.id, '2026-01-01', '2026-01-01', o.body from jsonb_to_recordset($2) as o(id uuid, body text))
       insert into customers_words (organization_id, id, created_at, terms)
         select $1, o.id, '2026-01-01', o.terms from jsonb_to_recordset($2) as o(id uuid, terms text)`,
      [organizationId, JSON.stringify(objects)],
    )
  }
  const before = await stored()
  expect(before).toHaveLength(2 * names.length)
  await migrate(pool, schema)
  for (const [n, row] of (await stored()).entries()) {
    const isTorn = ['हिमानी', 'हमनशीं', 'שָׁלוֹם'].includes(row.name)
    if (isTorn) expect(row.terms).toBe(`#vip ${row.name === 'שָׁלוֹם' ? 'שלום' : row.name}`)
    // Others are not even written again.
    else expect(row).toEqual(before[n])
  }

  await using service = await testService({ database })
  for (const { token } of organizations) {
    const { json } = await service.withToken(token).get(`/v1/customers?q=${encodeURIComponent('हिमानी')}`)
    expect(json.data.map(({ name }: { name: string }) => name)).toEqual(['हिमानी'])
  }
})

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
