/**
 * What rows are found by, brought to another form beside processes that write the earlier one: before, meanwhile, broken off and begun
 * anew, and after. However it came there, each row has the terms that follow from what was written last.
 */
import type { Client } from 'pg'
import { expect, test } from 'vitest'
import { apply, migrate } from '../../src/db/migrate.ts'
import type { Migration } from '../../src/db/migration.ts'
import { schemaOf } from '../../src/schema.ts'
import { testDatabase } from '../harness/database.ts'
import { createEarlierOrganization } from '../harness/earlier-organization.ts'

const { migrations } = schemaOf()
const revising = migrations.find(({ id }) => id === '20261122-20-customer-search') as Migration
const before = migrations.filter(({ id }) => id < '20261122-20')

test('each row keeps what it is found by, whoever writes it and whenever', async () => {
  await using database = await testDatabase({ template: null })
  const { pool } = database
  await migrate(pool, { migrations: before, functions: [] })
  const organizations = [
    (await createEarlierOrganization(pool, 'One')).organizationId,
    (await createEarlierOrganization(pool, 'Two')).organizationId,
  ]
  /** Terms by row, as they are to be. */
  const wanted = new Map<string, string | null>()

  /** As the commit function of the earlier release does. */
  async function writeBefore(organizationId: string, n: number, tags: string[], search: string) {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    await pool.query(
      `insert into customers (organization_id, id, created_at, updated_at, body)
         values ($1, $2, '2026-01-01', '2026-01-02', '{}') on conflict do nothing`,
      [organizationId, id],
    )
    await pool.query(
      `insert into customers_words (organization_id, id, tags, search) values ($1, $2, $3, $4)
         on conflict (organization_id, id) do update set tags = excluded.tags, search = excluded.search`,
      [organizationId, id, tags, search],
    )
    const words = search.split(' ').map((word) => word.slice(0, 255))
    wanted.set(
      `${organizationId} ${id}`,
      [...tags.map((tag) => `#${tag.replaceAll(' ', '%20')}`), ...words].join(' '),
    )
    return id
  }
  async function removeBefore(organizationId: string, id: string) {
    await pool.query('delete from customers_words w where w.organization_id = $1 and w.id = $2', [
      organizationId,
      id,
    ])
    wanted.delete(`${organizationId} ${id}`)
  }
  async function expectTerms() {
    const { rows } = await pool.query<{ place: string; terms: string }>(
      `select w.organization_id || ' ' || w.id as place, w.terms from customers_words w
         where w.created_at = '2026-01-01'`,
    )
    expect(new Map(rows.map(({ place, terms }) => [place, terms]))).toEqual(wanted)
  }

  for (const organizationId of organizations) {
    const { rows } = await pool.query<{ id: string; search: string }>(
      `with made as (
         insert into customers (organization_id, id, created_at, updated_at, body)
           select $1, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, '2026-01-01', '2026-01-02', '{}'
             from generate_series(0, 1099) n returning id)
       insert into customers_words (organization_id, id, tags, search)
         select $1, m.id, '{vip}', 'ada ' || m.id from made m returning id, search`,
      [organizationId],
    )
    for (const { id, search } of rows) wanted.set(`${organizationId} ${id}`, `#vip ${search}`)
  }
  const [one, two] = organizations as [string, string]
  await writeBefore(one, 3, ['two words'], 'x'.repeat(300))

  const client = await pool.connect()
  try {
    let pieces = 0
    const between = (atPiece: (piece: number) => Promise<void>) =>
      ({
        async query(text: string, values?: unknown[]) {
          if (/^select \w+_piece\(/.test(text)) await atPiece(++pieces)
          return client.query(text, values)
        },
      }) as unknown as Pick<Client, 'query'>
    const killed = apply(
      between(async (piece) => {
        if (piece === 2) throw new Error('killed')
      }),
      revising,
    )
    await expect(killed).rejects.toThrow('killed')
    // Processes of the earlier release go on, with nobody migrating.
    await writeBefore(one, 5, ['vip'], 'changed before it went on')
    await removeBefore(one, await writeBefore(one, 6, ['vip'], 'gone'))

    await apply(
      between(async (piece) => {
        // Of what is done, and of what is still to be done.
        for (const organizationId of organizations) {
          await writeBefore(organizationId, 10, ['late'], `changed at ${piece}`)
          await writeBefore(organizationId, 1_090, [], `changed at ${piece}`)
          await writeBefore(organizationId, 2_000 + piece, ['new'], `made at ${piece}`)
          await removeBefore(organizationId, await writeBefore(organizationId, 20 + piece, [], 'gone'))
        }
      }),
      revising,
    )
    // Two before it was killed, and six of each organization.
    expect(pieces).toBe(14)
  } finally {
    client.release()
  }
  await expectTerms()

  await writeBefore(two, 30, ['after'], 'all of it')
  await writeBefore(two, 3_000, [], 'made after all of it')
  await removeBefore(two, await writeBefore(two, 31, [], 'gone'))
  await expectTerms()
  // One after the other, each in its own form.
  const both = await writeBefore(two, 32, ['older'], 'first')
  await pool.query(
    `insert into customers_words (organization_id, id, created_at, terms) values ($1, $2, '2026-01-01', $3)
       on conflict (organization_id, id) do update set terms = excluded.terms`,
    [two, both, '#newer second'],
  )
  wanted.set(`${two} ${both}`, '#newer second')
  await expectTerms()
  await writeBefore(two, 32, ['older'], 'third')
  await expectTerms()
})
