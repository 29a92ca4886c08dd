/** A directory of many organizations of other databases, each with one token, on a server of its own. */

import { hashToken } from '../../packages/service/src/auth/token.ts'
import { createDirectory } from '../../packages/service/src/databases/directory.ts'
import { migrate } from '../../packages/service/src/db/migrate.ts'
import { createPool, endPool } from '../../packages/service/src/db/pool.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { temporaryDirectory } from './installation.ts'
import { percentiles } from './load.ts'
import { processorSeconds } from './processor-time.ts'
import type { Run } from './report.ts'
import { openNamed } from './several-databases.ts'

/** Rows of one statement. */
const step = 50_000
/** For connections and plans. */
const warmUpSeconds = 1

/** `await using` removes all. */
export async function fillDirectory(organizations: number) {
  await using stack = new AsyncDisposableStack()
  const { dataDir, remove } = await temporaryDirectory()
  stack.defer(remove)
  const { server } = await openNamed(stack, dataDir, 'directory')
  const { pool } = server
  await migrate(pool, schemaOf())
  // In a realistic order, with the indexes: ids by time, hashes at random.
  for (let from = 1; from <= organizations; from += step)
    await pool.query(
      `with made as materialized (
         select n, new_uuid_v7(now() + n * interval '1 millisecond') as id from generate_series($1::int, $2::int) as n),
         placed as (
           insert into directory_organizations (organization_id, database_name) select m.id, 'db' || m.n % 1000 from made m)
         insert into directory_tokens (token_hash, organization_id) select sha256(('token ' || m.n)::bytea), m.id from made m`,
      [from, Math.min(from + step - 1, organizations)],
    )
  const administrator = createPool(
    { ...server.connection, user: 'postgres' },
    { max: 1, onIdleError: () => {} },
  )
  stack.defer(() => endPool(administrator))
  // Pending writes are not part of the measurement.
  await administrator.query('vacuum (analyze)')
  await administrator.query('checkpoint')
  const asker = createPool(server.connection, { max: 1, onIdleError: () => {} })
  stack.defer(() => endPool(asker))
  const { ownerOf } = createDirectory(asker, 'directory')
  const pid = await server.pid()

  const bytesOf = async (table: string) => {
    const { rows } = await pool.query<{ bytes: string }>('select pg_total_relation_size($1) as bytes', [
      table,
    ])
    return Number(rows[0]?.bytes) / organizations
  }
  /** One look-up of so many tokens after another; returns the time of each. */
  const ask = async (together: number, seconds: number): Promise<number[]> => {
    const waits: number[] = []
    const until = performance.now() + seconds * 1_000
    for (let since = performance.now(); since < until; since = performance.now()) {
      const some = Array.from({ length: together }, () => 1 + Math.floor(Math.random() * organizations))
      const owners = await Promise.all(some.map((n) => ownerOf(hashToken(`token ${n}`))))
      if (owners.includes(null)) throw new Error('the directory does not know a token')
      waits.push(performance.now() - since)
    }
    return waits
  }
  const moved = stack.move()

  return {
    /** With their indexes. */
    bytesOfOrganization: () => bytesOf('directory_organizations'),
    bytesOfToken: () => bytesOf('directory_tokens'),
    /** Look-ups that a core of the server answers in a second over one connection, and milliseconds of one. */
    async lookUps(together: number, seconds: number): Promise<Run> {
      await ask(together, warmUpSeconds)
      const before = await processorSeconds(pid, true)
      const waits = await ask(together, seconds)
      const spent = (await processorSeconds(pid, true)) - before
      return { value: (waits.length * together) / spent, ...percentiles(waits) }
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}
