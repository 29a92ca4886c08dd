/**
 * The schema as a database has it after all migrations, for reading: every table with its keys, checks and indexes, then every
 * function. Taken from the catalogue of a database that was migrated, not from the migrations: a reader sees what is
 * there, and not by which steps it came.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { migrate } from '../../packages/service/src/db/migrate.ts'
import { createPool, type endPool } from '../../packages/service/src/db/pool.ts'
import { kinds } from '../../packages/service/src/desk/index.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'

type Database = Pick<Parameters<typeof endPool>[0], 'query'>

/** In the order in which they are shown. */
const tables: Readonly<Record<string, string>> = {
  schema_migrations: 'Which migrations the database has had.',
  installation:
    'One row. The epoch is the one that organizations begin in: that of the last restore of this database.',
  organizations:
    'What owns everything else. One that is suspended has its keys refused and its deliveries held; one whose deletion has begun is suspended for good. One that is away is served by another database, or by none for a moment.',
  organization_clocks:
    'One row an organization, locked first by every commit; last_stamp is the latest it gave, and events_dropped_to the last event that is no longer stored. The epoch changes when the stream may have gone back in time: cursors of another one are refused. Updated constantly: room for HOT updates.',
  kind_counters:
    'How many rows of a kind exist and how many were removed, the digests and bytes of those that exist, and the last number given.',
  ...Object.fromEntries(
    kinds.flatMap(({ plural, table }) => [
      [
        table.name,
        `The stream of ${plural}: rows that exist, and removal records where rows were, in the one order of (updated_at, id).`,
      ],
      ...(table.searchable ? [[`${table.name}_words`, `What ${plural} are found by.`]] : []),
    ]),
  ),
  inbox:
    'Open conversations by how long their customers wait. Triggers on conversations and messages keep it.',
  events: 'What happened, of the same commit. A partition a week; the week follows from the id.',
  idempotency_keys: 'Stored responses to requests that may be repeated, for 24 hours.',
  erasures: 'Removed objects of which events and stored responses still hold something.',
  detachments:
    'Objects that a removal took a reference from, whose payloads and stored responses still have it.',
  restores:
    'Of each restore the span that was lost: stamps after restored_to and up to restored_at are of a past that is gone.',
  api_keys: 'Who may do what.',
  api_key_tokens:
    'From the hash of a token to its key: the one look-up without an organization, as it finds it.',
  revoked_api_keys: 'Keys that were revoked, for 30 days.',
  api_key_uses: 'When a key was last used. Beside the key, so that counting moves nothing of it.',
  console_links:
    'Links to sessions of the console, and the sessions that they began. Like the directory of tokens it is found by a hash alone.',
  directory_organizations:
    'Which database serves an organization, in the first of several databases. One without a row is served by that very database.',
  directory_tokens:
    'From the hash of a token to its organization, of those that the first database does not serve.',
  webhooks: 'Endpoints: addresses that events are delivered to.',
  webhook_secrets: 'Their signing secrets, sealed.',
  webhook_health: 'How they fare. Beside the endpoint, so that counting moves nothing of it.',
  endpoint_queues:
    'Endpoint queues, one row each: when somebody has to look at it, which worker leases it, and its priority.',
  deliveries:
    'Events on their way to endpoints: what is pending in a partition of its own, what is completed in one a week.',
  attempts: 'Attempts before the last, which stands with its delivery. In the week of the delivery.',
  delivery_stats:
    "What became of an endpoint's deliveries, counted by the minute and by the hour. A partition a week. Places: packages/service/src/delivery/tally.ts.",
  recoveries: 'Jobs that bring back what an endpoint has missed, piece by piece.',
  fan_outs:
    'What large commits have left to be made: deliveries to an endpoint that was active and subscribed then.',
  removed_webhooks: 'Endpoints that are gone and whose deliveries have still to go.',
  summary_jobs: 'Resolutions that wait for their summary.',
  organization_moves:
    'In the database that an organization leaves: where it goes, and how far it has come. Triggers on its rows, made meanwhile, are the rest of it (decision 66).',
  move_changes: 'In the database that it leaves: keys of rows that have changed and are still to be copied.',
  organization_arrivals:
    'In the database that it comes to: how far each table is copied, and the counts and digests of what is there.',
  moved_rows:
    'In the database that it comes to: what makes the organization work, until the turn puts it into its tables.',
}

/** Creates a database, migrates it, renders its schema and drops it. */
export async function schemaPage(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deskwire-schema-'))
  const database = await embedded.start({ dataDir })
  try {
    const pool = createPool(database.connection, { max: 1, onIdleError: () => {} })
    try {
      await migrate(pool, schemaOf())
      return await renderSchema(pool)
    } finally {
      await pool.end()
    }
  } finally {
    await database.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** The schema of a migrated database. */
export async function renderSchema(database: Database): Promise<string> {
  const found = await database.query<Table>(tablesQuery)
  const unknown = found.rows.filter(({ name, parent }) => parent === null && !(name in tables))
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ')
    throw new Error(`tools/generate/schema.ts does not say what ${names} is: add it to its tables`)
  }
  const order = Object.keys(tables)
  const shown = found.rows.toSorted(
    (a, b) =>
      order.indexOf(a.parent ?? a.name) - order.indexOf(b.parent ?? b.name) ||
      Number(a.parent !== null) - Number(b.parent !== null) ||
      (a.name < b.name ? -1 : 1),
  )
  const own = await database.query<{ definition: string }>(functionsQuery)
  return [
    heading,
    ...shown.map(tableText),
    '-- Functions that migrations made.\n',
    ...own.rows.map(({ definition }) => `${definition.trim()};\n`),
    '-- Functions of this version: each name ends in a hash of the text. The first is the one writer of the stream.\n',
    ...schemaOf().functions.map(({ definition }) => `${definition};\n`),
  ].join('\n')
}

const heading = `-- The schema as a database has it. Generated: npm run generate. Read it from the top: first what there is, then the functions
-- that write it, the commit function first. Weeks of events, deliveries and attempts are made as time goes and are not
-- shown. What each key of the commit function's argument means: packages/service/src/journal/commit-protocol.ts.
`

interface Table {
  readonly name: string
  /** Its table and bounds, for a partition. */
  readonly parent: string | null
  readonly bound: string | null
  readonly partitioned: string | null
  readonly options: string | null
  readonly columns: readonly string[]
  readonly constraints: readonly string[]
  readonly indexes: readonly string[]
  readonly triggers: readonly string[]
  /** Without statistics. */
  readonly uncounted: readonly string[]
}

function tableText(table: Table): string {
  const { name, parent, bound, partitioned, options, columns, constraints, indexes } = table
  const { triggers, uncounted } = table
  const lines: string[] = []
  const withOptions = options === null ? '' : ` with (${options})`
  if (parent === null) {
    lines.push(`-- ${tables[name]}`)
    const members = [...columns, ...constraints]
      .map(plain)
      .map((member) => `  ${member}`)
      .join(',\n')
    const partitionedBy = partitioned === null ? '' : ` partition by ${plain(partitioned)}`
    lines.push(`create table ${name} (\n${members}\n)${partitionedBy}${withOptions};`)
  } else {
    lines.push(`create table ${name} partition of ${parent} ${plain(bound ?? '')}${withOptions};`)
  }
  lines.push(...indexes.map((index) => `${plain(index)};`))
  if (parent === null) lines.push(...triggers.map((trigger) => `${plain(trigger)};`))
  if (parent === null && uncounted.length > 0)
    lines.push(`-- No statistics are kept of ${uncounted.join(', ')}.`)
  return `${lines.join('\n')}\n`
}

/** Lower case (names have no capitals), without what goes without saying. */
function plain(sql: string): string {
  return sql
    .replace(/'[^']*'|[A-Z]+/g, (part) => (part.startsWith("'") ? part : part.toLowerCase()))
    .replace(/timestamp(\(3\))? with time zone/g, 'timestamptz$1')
    .replace(' using btree ', ' ')
}

const tablesQuery = `select c.relname as name, pc.relname as parent,
    pg_get_expr(c.relpartbound, c.oid) as bound, pg_get_partkeydef(c.oid) as partitioned,
    array_to_string(c.reloptions, ', ') as options,
    array(select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attnotnull then ' not null' else '' end
        || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum)::text[] as columns,
    array(select pg_get_constraintdef(k.oid, true) from pg_constraint k
      where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')
      order by position(k.contype in 'pufc'), pg_get_constraintdef(k.oid, true))::text[] as constraints,
    array(select pg_get_indexdef(i.indexrelid, 0, true) from pg_index i
      where i.indrelid = c.oid and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
        and not exists (select 1 from pg_inherits h where h.inhrelid = i.indexrelid)
      order by i.indexrelid::regclass::text)::text[] as indexes,
    array(select pg_get_triggerdef(t.oid, true) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
      order by t.tgname)::text[] as triggers,
    array(select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attstattarget = 0
      order by a.attnum)::text[] as uncounted
  from pg_class c
  left join pg_inherits p on p.inhrelid = c.oid
  left join pg_class pc on pc.oid = p.inhparent
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`

const functionsQuery = `select pg_get_functiondef(p.oid) as definition from pg_proc p
  where p.pronamespace = current_schema()::regnamespace and (p.prorettype = 'trigger'::regtype
    or p.prolang <> (select l.oid from pg_language l where l.lanname = 'plpgsql'))
  order by p.proname`
