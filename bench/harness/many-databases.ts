/** One PostgreSQL server with many databases: a hundred servers would need a hundred times the memory. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { migrate } from '../../packages/service/src/db/migrate.ts'
import { createPool, endPool } from '../../packages/service/src/db/pool.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { socketUrl } from '../../packages/testbed/services.ts'
import { standingUntil, temporaryDirectory } from './installation.ts'
import { serverPid } from './processor-time.ts'
import type { DatabaseOfMany } from './several-databases.ts'

/** `await using` removes all. */
export async function openMany(count: number) {
  await using stack = new AsyncDisposableStack()
  const { dataDir, remove } = await temporaryDirectory()
  stack.defer(remove)
  const open = () => embedded.start({ dataDir })
  const made = await open()
  await writeFile(join(made.dataDir, 'postgres', 'local.conf'), `max_connections = ${100 + count * 20}\n`)
  await made.stop()
  const server = await open()
  stack.defer(standingUntil(() => server.stop()))
  const connect = (settings: { readonly database: string; readonly user?: string }) => {
    const pool = createPool({ ...server.connection, ...settings }, { max: 1, onIdleError: () => {} })
    stack.defer(() => endPool(pool))
    return pool
  }

  const { database: template, user } = server.connection
  const administrator = connect({ database: 'postgres', user: 'postgres' })
  const first = createPool(server.connection, { max: 1, onIdleError: () => {} })
  await migrate(first, schemaOf())
  await endPool(first)
  for (let n = 2; n <= count; n++)
    await administrator.query(`create database d${n} template ${template} owner ${user} strategy file_copy`)
  const databases = Array.from({ length: count }, (_, at) => {
    const database = at === 0 ? template : `d${at + 1}`
    const pool = connect({ database })
    return { name: `d${at + 1}`, server: { url: socketUrl({ ...server.connection, database }), pool } }
  }) as [DatabaseOfMany, ...DatabaseOfMany[]]
  const own = [administrator, ...databases.map((each) => each.server.pool)]
  const pid = await serverPid(administrator)
  const moved = stack.move()

  return {
    dataDir,
    databases,
    /** The server's. */
    pid,
    /** Without the benchmark's own. */
    async connections(): Promise<number> {
      const { rows } = await administrator.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'`,
      )
      return (rows[0]?.count ?? 0) - own.reduce((sum, pool) => sum + pool.totalCount, 0)
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}
