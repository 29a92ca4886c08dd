/**
 * Some migrations took another way before they were made to hold nobody up. A database that went that way and one that
 * goes the present one end with the same schema.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderSchema } from '../../../../tools/generate/schema.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { Migration } from '../../src/db/migration.ts'
import { kinds } from '../../src/desk/index.ts'
import { schemaOf } from '../../src/schema.ts'
import { testDatabase } from '../harness/database.ts'
import { createEarlierOrganization } from '../harness/earlier-organization.ts'

/** The statements that these migrations had, by id. */
const before: Readonly<Record<string, readonly string[]>> = {
  '20261122-30-attempts-before': [
    'alter table deliveries add column attempts_before integer not null default 0',
    'alter table deliveries alter column attempts_before set statistics 0',
    `update deliveries set attempts_before = max_attempts - 6
       where log_day = 'infinity' and payload = 'stored' and max_attempts > 6`,
  ],
  ...Object.fromEntries(
    kinds.flatMap(({ name, table }) => [
      [`20261122-20-${name}-search`, searchStatements(table.name)],
      [`20261122-41-${name}-stored-counts`, countStatements(table.name, name)],
    ]),
  ),
}

function searchStatements(table: string): string[] {
  const words = `case when length(w.search) <= 255 then nullif(w.search, '') else
      (select string_agg(left(x.word, 255), ' ') from unnest(string_to_array(left(w.search, 200000), ' ')) x(word)) end`
  const tags = `(select string_agg('#' || replace(replace(x.tag, '%', '%25'), ' ', '%20'), ' ') from unnest(w.tags) x(tag))`
  return [
    `alter table ${table}_words rename to ${table}_words_before`,
    `create table ${table}_words (organization_id uuid not null, id uuid not null, created_at timestamptz(3) not null,
       terms text not null)`,
    `insert into ${table}_words (organization_id, id, created_at, terms)
       select w.organization_id, w.id, t.created_at, concat_ws(' ', ${tags}, ${words})
         from ${table}_words_before w join ${table} t on t.organization_id = w.organization_id and t.id = w.id`,
    `drop table ${table}_words_before`,
    `alter table ${table}_words add constraint ${table}_words_pkey primary key (organization_id, id)`,
    `create index ${table}_words_found on ${table}_words using gin (search_vector(organization_id, terms))
       with (gin_pending_list_limit = 1024)`,
    `analyze ${table}_words`,
  ]
}

function countStatements(table: string, kind: string): string[] {
  return [
    `update kind_counters c set stored_bytes = s.bytes, removed_count = s.removed
       from (select t.organization_id, coalesce(sum(octet_length(t.body)) filter (where t.removed_at is null), 0) as bytes,
           count(t.removed_at) as removed from ${table} t group by t.organization_id) s
       where c.organization_id = s.organization_id and c.kind = '${kind}'`,
  ]
}

const since = ['20261122-30-attempts-before-begun', ...kinds.map(({ name }) => `20261123-20-${name}-words`)]

test('a database that took the way before ends with the schema of a new one', async () => {
  await using database = await testDatabase({ template: null })
  const { pool } = database
  const { migrations, functions } = schemaOf()
  expect(migrations.map(({ id }) => id)).toEqual(expect.arrayContaining([...Object.keys(before), ...since]))
  const then = migrations.flatMap((migration): Migration[] => {
    const { id } = migration
    const statements = before[id]
    if (statements !== undefined) return [{ id, statements }]
    return id > '20261123' || since.includes(id) ? [] : [migration]
  })
  await migrate(pool, { migrations: then, functions: [] })
  const { organizationId } = await createEarlierOrganization(pool, 'Early')
  // With more delays than there are unless set otherwise, nothing was begun anew here.
  await pool.query(
    `with webhook as (insert into webhooks (organization_id, id, url, events, status, api_key_id, created_at, updated_at)
         select $1, gen_random_uuid(), 'https://example.com', '{customer.deleted}', 'active', k.id, now(), now() from api_keys k
         returning id),
       lane as (insert into lanes (organization_id, webhook_id) select $1, w.id from webhook w)
     insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
         subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, created_at, updated_at)
       select $1, gen_random_uuid(), w.id, 'infinity', gen_random_uuid(), 'customer.deleted', now(), 'customer',
           gen_random_uuid(), 'pending', 'stored', 0, 9, now(), now(), now() from webhook w`,
    [organizationId],
  )

  const applied = await migrate(pool, { migrations, functions })
  expect(applied).toEqual(expect.arrayContaining(since))
  expect(applied.filter((id) => id in before)).toEqual([])
  expect(await renderSchema(pool)).toBe(
    readFileSync(new URL('../../../../docs/schema.sql', import.meta.url), 'utf8'),
  )
  const { rows } = await pool.query('select d.attempts_before from deliveries d')
  expect(rows).toEqual([{ attempts_before: 0 }])
})
