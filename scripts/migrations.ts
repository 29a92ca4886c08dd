/**
 * `npm run measure:migrations [-- --rows N] [--write-results]`: for how long a writer waits while the schema is migrated under it, from
 * the oldest that may be, on so many rows of one organization. The writer does what processes of that release do: it takes the clock, and
 * writes a row and what it is found by.
 */
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../packages/service/src/db/embedded/index.ts'
import { apply, migrate } from '../packages/service/src/db/migrate.ts'
import type { Migration } from '../packages/service/src/db/migration.ts'
import { createPool, endPool } from '../packages/service/src/db/pool.ts'
import { schemaOf } from '../packages/service/src/schema.ts'
import { createEarlierOrganization } from '../packages/service/test/harness/earlier-organization.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    'write-results': { type: 'boolean', default: false },
  },
})
const rows = Number(values.rows)
/** The oldest release that may run beside this one has the migrations before it. */
const oldest = '20261122'
/** Nobody is to be held up for longer. Milliseconds. */
const limit = 1_000

interface Measured {
  readonly id: string
  readonly milliseconds: number
  /** The longest that a write took meanwhile. */
  readonly longest: number
  readonly writes: number
}

const directory = await mkdtemp(join(tmpdir(), 'deskwire-migrations-'))
const database = await startEmbedded({ dataDir: directory, log: () => {} })
const pool = createPool(database.connection, { max: 4, onIdleError: () => {} })
const measured: Measured[] = []
try {
  const { migrations } = schemaOf()
  const isBefore = ({ id }: Migration) => id < oldest
  await migrate(pool, { migrations: migrations.filter(isBefore), functions: [] })
  const { organizationId } = await createEarlierOrganization(pool, 'Large')
  await plant(organizationId)
  const writer = startWriter(organizationId)
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    for (const migration of migrations
      .filter((one) => !isBefore(one))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const since = performance.now()
      writer.begin()
      await apply(client, migration)
      const milliseconds = performance.now() - since
      measured.push({ id: migration.id, milliseconds, ...(await writer.end()) })
    }
  } finally {
    client.release(true)
    await writer.stop()
  }
} finally {
  await endPool(pool)
  await database.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

const worst = Math.max(...measured.map(({ longest }) => longest))
const notable = measured.filter(({ milliseconds, longest }) => milliseconds > 500 || longest > 100)
const lines = [
  `- ${rows.toLocaleString('en')} customers of one organization; ${measured.length} migrations in ${seconds(measured.reduce((sum, one) => sum + one.milliseconds, 0))}`,
  `- the longest that a write of it took meanwhile: ${Math.round(worst)} ms`,
  ...notable.map(
    ({ id, milliseconds, longest, writes }) =>
      `- ${id}: ${seconds(milliseconds)}, ${writes} writes meanwhile, the slowest ${Math.round(longest)} ms`,
  ),
]
console.log(lines.join('\n'))
if (values['write-results']) writeResults()
process.exitCode = worst > limit ? 1 : 0

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}

async function plant(organizationId: string): Promise<void> {
  const piece = 50_000
  for (let made = 0; made < rows; made += piece)
    await pool.query(
      `with made as (
         insert into customers (organization_id, id, created_at, updated_at, body)
           select $1, gen_random_uuid(), now(), now(), repeat('x', 300) from generate_series(1, $2::int) returning id)
       insert into customers_words (organization_id, id, tags, search)
         select $1, m.id, '{vip}', 'ada lovelace ' || left(m.id::text, 8) from made m`,
      [organizationId, Math.min(piece, rows - made)],
    )
  await pool.query(
    `insert into kind_counters (organization_id, kind, live_count, digest, last_number) values ($1, 'customer', $2, 0, 0)`,
    [organizationId, rows],
  )
  await pool.query('vacuum analyze customers')
  await pool.query('vacuum analyze customers_words')
}

/** Writes all the time, one commit after the other. */
function startWriter(organizationId: string) {
  let going = true
  let longest = 0
  let writes = 0
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
      longest = Math.max(longest, performance.now() - since)
      writes++
    }
  })()
  // Whoever waits for the next write hears of it.
  done.catch(() => {})
  return {
    begin() {
      longest = 0
      writes = 0
    },
    /** What came to its end since; the write that is under way is waited for. */
    async end() {
      const before = writes
      while (writes === before) await Promise.race([done, delay(1)])
      return { longest, writes }
    },
    async stop() {
      going = false
      await done
    },
  }
}

function writeResults(): void {
  const text = `# For how long migrations hold a writer up

Written by \`npm run measure:migrations -- --write-results\`: PostgreSQL of this release, ${cpus().length} processors, which others may have used
meanwhile.

${lines.join('\n')}
`
  writeFileSync(new URL('./migrations/RESULTS.md', import.meta.url), text)
}
