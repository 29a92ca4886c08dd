/**
 * No migration holds writers up, however many rows there are: a transaction that locks a table against them, or writes rows that
 * they write too, reads few rows; and one that reads many has no such lock. What each takes and reads is asked of PostgreSQL, on
 * tables that have some rows, just before it commits.
 */
import { type Client, escapeIdentifier, type PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { apply, applyWithin, migrate } from '../../src/db/migrate.ts'
import type { Migration } from '../../src/db/migration.ts'
import { indexOutdated } from '../../src/db/migrations/stream-table.ts'
import { transaction } from '../../src/db/pool.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createOrganization } from '../../src/organization/create.ts'
import { schemaOf } from '../../src/schema.ts'

/** Rows that large tables have here. */
const many = 3_000
/** What a transaction that holds somebody up may read of tables that can be large: a piece reads two hundred rows of two, twice. */
const few = 2_500

/** What a transaction has done. */
interface Seen {
  readonly migration: string
  /** Tables that were there before and that nobody can write until it ends. */
  readonly locked: readonly string[]
  /** Tables that were there before of which it has written rows. */
  readonly wrote: readonly string[]
  /** Rows that it has read. */
  readonly read: number
  /** Tables that were there before and have other files now: every row was written again. */
  readonly rewritten: readonly string[]
}

/** Whether writers wait for as long as reading takes that grows with the tables. */
const holdsUp = ({ locked, wrote, read, rewritten }: Seen) =>
  rewritten.length > 0 || (read > few && locked.length + wrote.length > 0)

/** Applies the migration, and looks at each of its transactions before it commits. */
async function watch(client: PoolClient, migration: Migration): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  let before: Awaited<ReturnType<typeof files>> = new Map()
  const look = async () => {
    const { rows: locks } = await client.query<{ name: string }>(
      `select distinct c.relname::text as name from pg_locks l join pg_class c on c.oid = l.relation
         where l.pid = pg_backend_pid() and c.relkind in ('r', 'p')
           and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`,
    )
    const { rows: work } = await client.query<{ name: string; read: number; wrote: number }>(
      `select s.relname::text as name, (s.seq_tup_read + coalesce(s.idx_tup_fetch, 0))::int as read,
           (s.n_tup_upd + s.n_tup_del + s.n_tup_ins)::int as wrote
         from pg_stat_xact_user_tables s`,
    )
    const now = await files(client)
    const known = (name: string) => [...before.values()].some((table) => table.name === name)
    seen.push({
      migration: migration.id,
      locked: locks.map(({ name }) => name).filter(known),
      wrote: work.filter(({ name, wrote }) => wrote > 0 && known(name)).map(({ name }) => name),
      read: work.reduce((sum, { read }) => sum + read, 0),
      rewritten: [...before]
        .filter(([id, { file }]) => (now.get(id)?.file ?? file) !== file)
        .map(([, { name }]) => name),
    })
  }
  const watched = {
    async query(text: string, values?: unknown[]) {
      if (text === 'commit') await look()
      if (text === 'begin') {
        // Otherwise what is read next would be added to what was read before.
        await client.query('select pg_stat_force_next_flush()')
        before = await files(client)
      }
      if (/^select \w+_piece\(/.test(text)) {
        await watched.query('begin')
        const answer = await client.query(text, values)
        await watched.query('commit')
        return answer
      }
      return client.query(text, values)
    },
  }
  await apply(watched as unknown as Pick<Client, 'query'>, migration)
  return seen
}

/** The tables that are there, by their number, and the file of each. */
async function files(client: PoolClient): Promise<Map<number, { name: string; file: string }>> {
  const { rows } = await client.query<{ id: number; name: string; file: string }>(
    `select c.oid::int as id, c.relname::text as name, pg_relation_filenode(c.oid)::text as file from pg_class c
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
         and c.relname <> 'schema_migrations'`,
  )
  return new Map(rows.map(({ id, ...table }) => [id, table]))
}

/** Rows of every table that can be large. */
async function plant(client: PoolClient, organizationId: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname::text as name from pg_class c where c.relnamespace = current_schema()::regnamespace
       and c.relkind = 'r' and exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'removed_at')
       and exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'body') order by c.relname`,
  )
  expect(rows.length).toBeGreaterThanOrEqual(6)
  for (const { name } of rows) {
    const table = escapeIdentifier(name)
    await client.query(
      `with made as (
         insert into ${table} (organization_id, id, created_at, updated_at, body)
           select $1, gen_random_uuid(), now(), now(), '{}' from generate_series(1, $2::int) returning organization_id, id)
       insert into ${escapeIdentifier(`${name}_words`)} (organization_id, id, created_at, terms)
         select m.organization_id, m.id, now(), '#vip ada lovelace' from made m`,
      [organizationId, many],
    )
    await client.query(
      `insert into commits (organization_id, stamp, kind, live_count, removed_count, stored_bytes, digest, content_digest, last_number)
         values ($1, now(), $2, $3, 0, 0, 0, 0, 0)`,
      [organizationId, name.replace(/s$/, ''), many],
    )
  }
  const [webhook] = (
    await client.query<{ id: string }>(
      `with key as (select k.id from api_keys k limit 1),
         made as (insert into webhooks (organization_id, id, url, events, status, api_key_id, created_at, updated_at)
           select $1, gen_random_uuid(), 'https://example.com', '{customer.created}', 'active', k.id, now(), now() from key k
           returning id)
       insert into endpoint_queues (organization_id, webhook_id) select $1, m.id from made m returning webhook_id as id`,
      [organizationId],
    )
  ).rows
  await client.query(
    `insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
         subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, created_at, updated_at)
       select $1, gen_random_uuid(), $2, 'infinity', gen_random_uuid(), 'customer.created', now(), 'customer', gen_random_uuid(),
           'pending', 'current', 0, 6, now(), now(), now() from generate_series(1, $3::int)`,
    [organizationId, webhook?.id, many],
  )
}

/** What a release may do to a large table: a column that is filled in pieces, and an index of it. */
const gradual: Migration = {
  id: '20991231-01-customer-sizes',
  gradually: {
    prepare: [
      'alter table customers add column if not exists size integer',
      `create or replace function customer_sizes_piece(p_after text) returns text language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $function$
declare
  v_after uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
  v_organization_id uuid := (select o.organization_id from organizations o);
  v_ids uuid[] := array(select c.id from customers c where c.organization_id = v_organization_id and c.id > v_after
    order by c.id limit 200);
begin
  update customers c set size = octet_length(c.body) where c.organization_id = v_organization_id and c.id = any(v_ids);
  return v_ids[200];
end;
$function$`,
    ],
    piece: 'select customer_sizes_piece($1) as next',
    indexes: [
      'drop index concurrently if exists customers_size',
      'create index concurrently customers_size on customers (organization_id, size)',
    ],
  },
  statements: ['drop function customer_sizes_piece(text)'],
}

/** What the gradual migration has left: rows without a size, valid indexes, functions. */
async function stateOf(client: Pick<Client, 'query'>) {
  const { rows } = await client.query(
    `select (select count(*)::int from customers c where c.size is null) as unsized,
       (select array_agg(i.indisvalid) from pg_index i where i.indexrelid = to_regclass('customers_size')) as valid,
       (select count(*)::int from pg_proc p where p.proname = 'customer_sizes_piece') as functions,
       (select count(*)::int from schema_migrations m where m.id = '${gradual.id}') as noted`,
  )
  return rows[0]
}
const done = { unsized: 0, valid: [true], functions: 0, noted: 1 }

/** A database with rows, and a connection to it. */
async function planted() {
  const database = await testDatabase()
  const client = await database.pool.connect()
  const { organizationId } = await createOrganization(database.pool, systemClock, 'Large')
  await plant(client, organizationId)
  return {
    database,
    client,
    async [Symbol.asyncDispose]() {
      client.release(true)
      await database[Symbol.asyncDispose]()
    },
  }
}

test('migrations since the baseline read little while they hold writers up', async () => {
  await using it = await planted()
  const { client } = it
  // Statistics that were taken at a bad moment make reading in the order of an index look as dear as this.
  await client.query('set random_page_cost = 1000')
  const [, ...since] = schemaOf().migrations.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await client.query('delete from schema_migrations where id = any($1)', [since.map(({ id }) => id)])
  const outdated = { id: '20991231-02-customers', ...indexOutdated('customers', 2) }
  const seen: Seen[] = []
  for (const migration of [...since, gradual, outdated]) {
    for (const [, made] of migration.statements.join(';').matchAll(/create table (\w+) /g))
      await client.query(`drop table ${escapeIdentifier(made as string)}`)
    seen.push(...(await watch(client, migration)))
  }
  expect(seen.filter(holdsUp)).toEqual([])
  expect(seen.some(({ read, migration }) => read >= 400 && migration === gradual.id)).toBe(true)
  expect(await stateOf(client)).toEqual(done)

  // Each of these would hold writers of ten million rows up for seconds.
  const faulty: Record<string, string> = {
    index: 'create index slow on customers (created_at)',
    column: `alter table tickets add column weight integer not null default floor(random() * 10)::int`,
    check: 'alter table bookings add check (body is not null)',
    counters: `update commits c set last_number = (select count(*) from messages m where m.organization_id = c.organization_id)`,
    large: `update customers set body = body`,
  }
  const found: string[] = []
  for (const [id, statement] of Object.entries(faulty)) {
    const faults = (await watch(client, { id: `20991231-${id}`, statements: [statement] })).filter(holdsUp)
    if (faults.length > 0) found.push(id)
  }
  expect(found).toEqual(Object.keys(faulty))
})

test('a gradual migration that breaks off anywhere begins anew, and comes to the same end', async () => {
  await using it = await planted()
  const { client } = it
  let broken = 0
  for (let at = 1; ; at++) {
    let asked = 0
    const breaking = {
      async query(text: string, values?: unknown[]) {
        if (++asked === at) throw new Error('broken off')
        return client.query(text, values)
      },
    }
    const failed = await apply(breaking as unknown as Pick<Client, 'query'>, gradual).then(
      () => null,
      (error: Error) => error.message,
    )
    if (failed === null) break
    expect(failed).toBe(`migration ${gradual.id} failed: broken off`)
    broken++
  }
  // Its own transaction and that before it, a statement for each two hundred rows, and two for the index.
  expect(broken).toBeGreaterThan(many / 200 + 8)
  expect(await stateOf(client)).toEqual(done)
})

test('a restore applies a gradual migration in one transaction', async () => {
  await using it = await planted()
  await transaction(it.database.pool, (tx) => applyWithin(tx, [gradual]))
  expect(await stateOf(it.client)).toEqual(done)
})

test('pieces may be those of a function, which is given what the one before has answered', async () => {
  await using database = await testDatabase()
  const given: (string | null)[] = []
  const migration: Migration = {
    id: '20991231-01-counted',
    gradually: {
      async piece(client, next) {
        given.push(next)
        await client.query('select 1')
        return given.length < 3 ? `after ${given.length}` : null
      },
    },
    statements: [],
  }
  const { migrations, functions } = schemaOf()
  const schema = { migrations: [...migrations, migration], functions }
  expect(await migrate(database.pool, schema)).toEqual([migration.id])
  expect(given).toEqual([null, 'after 1', 'after 2'])
})

test('who holds a table for long holds up the migration, and nobody else', async () => {
  await using database = await testDatabase()
  const { pool } = database
  const reader = await pool.connect()
  const client = await pool.connect()
  try {
    // As a backup does, or an export.
    await reader.query('begin')
    await reader.query('select count(*) from installation')
    let tries = 0
    const watched = {
      async query(text: string, values?: unknown[]) {
        if (text !== 'rollback') return client.query(text, values)
        await client.query(text)
        tries++
        // Whoever comes while it has stepped back gets through.
        await pool.query('update installation set epoch = epoch')
        if (tries === 2) await reader.query('commit')
      },
    }
    await apply(watched as unknown as Pick<Client, 'query'>, {
      id: '20991231-waits',
      statements: ['alter table installation add column note text'],
    })
    expect(tries).toBe(2)
    expect((await pool.query('select i.note from installation i')).rows).toEqual([{ note: null }])
  } finally {
    client.release(true)
    reader.release(true)
  }
})
