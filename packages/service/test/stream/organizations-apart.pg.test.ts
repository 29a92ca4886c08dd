/** Organizations stand apart in the schema: keys, the functions' statements, and the shapes that servers who spread tables can run. */
import { parseSync } from 'libpg-query'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { namingOf, statementsIn } from '../../../testbed/named-organization.ts'
import { watchStatements } from '../../../testbed/watch-statements.ts'
import { transaction } from '../../src/db/pool.ts'
import { queryText } from '../../src/db/text-query.ts'
import { schemaOf } from '../../src/schema.ts'

test('the organization leads every key, but where it is what is looked for', async () => {
  await using database = await testDatabase()
  const { rows } = await database.pool.query<{ key: string }>(
    `select distinct c.relname || ' (' || k.columns || ')' as key from pg_constraint f join pg_class c on c.oid = f.conrelid
       cross join lateral (select string_agg(a.attname, ', ' order by n.place) as columns, min(a.attname) filter (where n.place = 1) as first
         from unnest(f.conkey) with ordinality as n(number, place)
         join pg_attribute a on a.attrelid = f.conrelid and a.attnum = n.number) k
       where c.relnamespace = current_schema()::regnamespace and f.contype in ('p', 'u', 'f') and k.first <> 'organization_id'
     union
     select c.relname || ' (' || i.indexrelid::regclass || ')' from pg_index i join pg_class c on c.oid = i.indrelid
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
       where c.relnamespace = current_schema()::regnamespace and i.indisunique and not i.indisprimary and a.attname <> 'organization_id'
     order by 1`,
  )
  expect(rows.map(({ key }) => key)).toEqual([
    // From a token to its organization.
    'api_key_tokens (token_hash)',
    // The same of a console link and its session.
    'console_links (token_hash)',
    // The same of what other databases have.
    'directory_tokens (token_hash)',
    // Of the database itself.
    'installation (singleton)',
    'schema_migrations (id)',
  ])
})

const statements = schemaOf().functions.flatMap(({ name, definition }) =>
  statementsIn(definition).map((sql) => ({ of: name.replace(/_[0-9a-f]{12}$/, ''), sql })),
)

test('every statement of a function names the organization that the function is called for', () => {
  expect(statements.length).toBeGreaterThan(200)
  const wrong = statements.flatMap(({ of, sql }) => {
    const { unnamed, variables } = namingOf(sql)
    const others = variables.filter((variable) => variable !== 'p_organization_id')
    return unnamed.length + others.length > 0
      ? [`${of}: ${[...unnamed, ...others].join(', ')} in ${sql}`]
      : []
  })
  expect(wrong).toEqual([])
})

test('no update takes its rows from one record, or adds an interval to a time', () => {
  const shapes = statements.flatMap(({ of, sql }) => {
    const [update] =
      parseSync(sql).stmts?.flatMap(({ stmt }) =>
        stmt !== undefined && 'UpdateStmt' in stmt ? [JSON.stringify(stmt)] : [],
      ) ?? []
    if (update === undefined) return []
    return /jsonb_to_record"|"interval"/.test(update) ? [`${of}: ${sql}`] : []
  })
  expect(shapes).toEqual([])
})

test('a statement of an API that names none, or two, is found however it is sent', async () => {
  await using database = await testDatabase()
  const { pool, seen } = watchStatements(database.pool)
  const [one, other] = ['01980000-0000-7000-8000-000000000001', '01980000-0000-7000-8000-000000000002']
  const ofTwo = `select 1 from organizations o where o.organization_id = $1
      and exists (select 1 from customers c where c.organization_id = $2)`
  await pool.query(ofTwo, [one, one])
  await queryText(pool, { name: 'two', text: ofTwo }, [one, one])
  await pool.query('select i.epoch from installation i')
  expect([...seen.unnamed]).toEqual([])

  await pool.query({ text: 'select c.id from customers c limit 1' })
  await queryText(pool, { name: 'two', text: ofTwo }, [one, other])
  await transaction(pool, (tx) => tx.query('select t.id from tickets t limit 1'))
  expect([...seen.unnamed].map((found) => found.slice(0, 45))).toEqual([
    'no organization is named for customers: selec',
    'several organizations are named: select 1 fro',
    'no organization is named for tickets: select ',
  ])
})
