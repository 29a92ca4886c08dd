/** A mirror in a process of its own: keeps a first copy, and verifies it. Says in one line of JSON what that took. */
import { Mirror, type Store } from '@deskwire/mirror'
import { MemoryStore } from '@deskwire/mirror/memory'
import { PostgresStore } from '@deskwire/mirror/postgres'
import { SqliteStore } from '@deskwire/mirror/sqlite'
import { createClient } from '@deskwire/sdk'
import type { MirrorOrder, MirrorReport } from './mirror.ts'

const order: MirrorOrder = JSON.parse(process.argv[2] ?? '{}')
const client = createClient({ baseUrl: `${order.url}/v1`, apiKey: order.token })
const mirror = new Mirror({ client, store: await storeOf(order) })
const loaded = await secondsOf(() => mirror.catchUp())
const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
let isExact = false
const verified = await secondsOf(async () => {
  isExact = (await mirror.verify()).exact
})
await mirror.close()
const report: MirrorReport = { loaded, verified, megabytes, isExact }
process.stdout.write(`${JSON.stringify(report)}\n`)

async function storeOf({ store, file, connection }: MirrorOrder): Promise<Store> {
  switch (store) {
    case 'memory':
      return new MemoryStore()
    case 'SQLite':
      return new SqliteStore({ file })
    case 'PostgreSQL':
      return new PostgresStore({ connection })
    case 'DuckDB': {
      const { DuckDbStore } = await import('@deskwire/mirror/duckdb')
      return new DuckDbStore({ file })
    }
  }
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const since = performance.now()
  await work()
  return (performance.now() - since) / 1_000
}
