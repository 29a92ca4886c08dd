/**
 * `npm run check -- migrations [--rows N] [--planted DIRECTORY]`: for how long a writer waits while the schema is
 * migrated under it, from the oldest that may be, on so many rows of one organization. The writer does what processes of that release do:
 * it takes the clock, and writes a row and what it is found by. With `--planted` the rows are made once, by a run that does nothing else,
 * and others begin with a copy of that directory: ten million take minutes.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { startEmbedded } from '../packages/service/src/db/embedded/index.ts'
import { apply, migrate } from '../packages/service/src/db/migrate.ts'
import type { Migration } from '../packages/service/src/db/migration.ts'
import { createPool, endPool } from '../packages/service/src/db/pool.ts'
import { allowStatements } from '../packages/service/src/db/silence.ts'
import { schemaOf } from '../packages/service/src/schema.ts'
import { createEarlierOrganization } from '../packages/service/test/harness/earlier-organization.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    planted: { type: 'string' },
  },
})
const rows = Number(values.rows)
/** The oldest release that may run beside this one has the migrations before it. */
const oldest = '20261122'
/** Nobody is to be held up for longer. Milliseconds. */
const limit = 1_000
/** For so long the writer is watched while nobody migrates. Milliseconds. */
const alone = 30_000

/** What a writer saw of a span of time. */
interface Seen {
  readonly writes: number
  /** The longest that a write took. Milliseconds. */
  readonly longest: number
  /** Those that took longer than half of what is allowed. */
  readonly slow: number
  /** The statement of the migration that was under way as it ended. */
  readonly beside: string
}

interface Measured extends Seen {
  readonly id: string
  readonly milliseconds: number
}

const { migrations } = schemaOf()
const isBefore = ({ id }: Migration) => id < oldest
const measured: Measured[] = []
/** The statement of the migrations that is under way. */
let underWay = ''
/** Milliseconds. A piece keeps writers of its organization out. */
let slowestPiece = 0
/** What the writer saw while nobody migrated. */
let before: Seen = { writes: 0, longest: 0, slow: 0, beside: '' }

if (values.planted !== undefined && !existsSync(values.planted)) {
  await inDatabase(values.planted, plant)
  console.log(`${rows.toLocaleString('en')} rows are planted in ${values.planted}: the next run measures`)
  process.exit()
}
const directory = await mkdtemp(join(tmpdir(), 'deskwire-migrations-'))
try {
  if (values.planted === undefined) await inDatabase(directory, plant)
  else execFileSync('cp', ['--archive', '--reflink=auto', `${values.planted}/.`, directory])
  await inDatabase(directory, measure)
} finally {
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

const worst = Math.max(...measured.map(({ longest }) => longest))
const notable = measured.filter(({ milliseconds, longest }) => milliseconds > 500 || longest > 100)
const lines = [
  `- ${rows.toLocaleString('en')} customers of one organization; ${measured.length} migrations in ${seconds(measured.reduce((sum, one) => sum + one.milliseconds, 0))}`,
  `- the longest that a write of it took meanwhile: ${Math.round(worst)} ms; of ${before.writes.toLocaleString('en')} in the ${seconds(alone)} before, when nobody migrated, ${Math.round(before.longest)} ms`,
  `- the longest that a piece took: ${Math.round(slowestPiece)} ms`,
  ...notable.map(
    ({ id, milliseconds, longest, slow, beside, writes }) =>
      `- ${id}: ${seconds(milliseconds)}, ${writes.toLocaleString('en')} writes meanwhile, ${slow} of them longer than ${limit / 2} ms, the slowest ${Math.round(longest)} ms, beside \`${beside}\``,
  ),
]
console.log(lines.join('\n'))
process.exitCode = worst > limit ? 1 : 0

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}

/** Runs `work` with a database in this directory, on a connection whose statements may take as long as they do. */
async function inDatabase(
  dataDir: string,
  work: (client: PoolClient, pool: Pool) => Promise<void>,
): Promise<void> {
  const database = await startEmbedded({ dataDir, log: () => {} })
  const pool = createPool(database.connection, { max: 4, onIdleError: () => {} })
  try {
    const client = await pool.connect()
    await client.query('set statement_timeout = 0')
    allowStatements(client, 0)
    try {
      await work(client, pool)
    } finally {
      client.release(true)
    }
  } finally {
    await endPool(pool)
    await database.stop()
  }
}

/** Migrates, beside a writer. */
async function measure(client: PoolClient, pool: Pool): Promise<void> {
  const { rows: clocks } = await client.query<{ id: string }>(
    'select c.organization_id as id from organization_clocks c',
  )
  // As `migrate` has it.
  await client.query('set synchronous_commit = off')
  const writer = startWriter(pool, clocks[0]?.id ?? '')
  try {
    await delay(alone)
    before = await writer.end()
    for (const migration of migrations
      .filter((one) => !isBefore(one))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const since = performance.now()
      writer.begin()
      await apply(watched(client), migration)
      const milliseconds = performance.now() - since
      measured.push({ id: migration.id, milliseconds, ...(await writer.end()) })
    }
  } finally {
    await writer.stop()
  }
}

/** The schema of then, and rows in it. */
async function plant(client: PoolClient, pool: Pool): Promise<void> {
  await migrate(pool, { migrations: migrations.filter(isBefore), functions: [] })
  const { organizationId } = await createEarlierOrganization(pool, 'Large')
  const piece = 50_000
  // Made after the rows, indexes take a fraction of the time.
  const { rows: indexes } = await client.query<{ drop: string; create: string }>(
    `select case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
         else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
       case when c.oid is null then pg_get_indexdef(i.indexrelid)
         else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as create
       from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.conrelid = i.indrelid
       where i.indrelid in ('customers'::regclass, 'customers_words'::regclass)`,
  )
  for (const { drop } of indexes) await client.query(drop)
  for (let made = 0; made < rows; made += piece)
    await client.query(
      `with made as (
         insert into customers (organization_id, id, created_at, updated_at, body)
           select $1, gen_random_uuid(), now(), now(), repeat('x', 300) from generate_series(1, $2::int) returning id)
       insert into customers_words (organization_id, id, tags, search)
         select $1, m.id, '{vip}', 'ada lovelace ' || left(m.id::text, 8) from made m`,
      [organizationId, Math.min(piece, rows - made)],
    )
  await client.query(
    `insert into kind_counters (organization_id, kind, live_count, digest, last_number) values ($1, 'customer', $2, 0, 0)`,
    [organizationId, rows],
  )
  await client.query(`set maintenance_work_mem = '1GB'`)
  for (const { create } of indexes) await client.query(create)
  await client.query('vacuum analyze customers')
  await client.query('vacuum analyze customers_words')
}

/** Keeps in mind what it is asked, and for how long the slowest piece took. */
function watched(client: PoolClient): Pick<PoolClient, 'query'> {
  const query = async (text: string, values?: unknown[]) => {
    underWay = text.split(/\s+/).slice(0, 4).join(' ')
    const since = performance.now()
    const answer = await client.query(text, values)
    if (text.endsWith(' as next')) slowestPiece = Math.max(slowestPiece, performance.now() - since)
    return answer
  }
  return { query } as Pick<PoolClient, 'query'>
}

/** Writes all the time, one commit after the other. */
function startWriter(pool: Pool, organizationId: string) {
  let going = true
  let longest = 0
  let beside = ''
  let writes = 0
  let slow = 0
  const done = (async () => {
    while (going) {
      const since = performance.now()
      await pool.query(
        `with clock as (update organization_clocks c set last_stamp = c.last_stamp where c.organization_id = $1 returning 1),
           made as (insert into customers (organization_id, id, created_at, updated_at, body)
             select $1, gen_random_uuid(), now(), now(), '{}' from clock returning id)
         insert into customers_words (organization_id, id, tags, search) select $1, m.id, '{late}', 'grace' from made m`,
        [organizationId],
      )
      const took = performance.now() - since
      if (took > longest) {
        longest = took
        beside = underWay
      }
      if (took > limit / 2) slow++
      writes++
    }
  })()
  // Whoever waits for the next write hears of it.
  done.catch(() => {})
  return {
    begin() {
      longest = 0
      slow = 0
      writes = 0
    },
    /** What came to its end since; the write that is under way is waited for. */
    async end(): Promise<Seen> {
      const counted = writes
      while (writes === counted) await Promise.race([done, delay(1)])
      return { longest, slow, beside, writes }
    },
    async stop() {
      going = false
      await done
    },
  }
}
