/** A mirror in a process of its own: makes and verifies a first copy, or writes an export. Prints one line of JSON. */
import { Mirror, type Store } from '@deskwire/mirror'
import { MemoryStore } from '@deskwire/mirror/memory'
import { PostgresStore } from '@deskwire/mirror/postgres'
import { SqliteStore } from '@deskwire/mirror/sqlite'
import { createClient } from '@deskwire/sdk'
import type { MirrorOrder, MirrorReport } from './mirror.ts'

const order: MirrorOrder = JSON.parse(process.argv[2] ?? '{}')
const client = createClient({ baseUrl: `${order.url}/v1`, apiKey: order.token })
const store = await storeOf(order)
const report = store === null ? await exported() : await mirrored(store)
process.stdout.write(`${JSON.stringify(report)}\n`)

async function exported(): Promise<MirrorReport> {
  const options = { client, directory: order.file }
  const write =
    order.store === 'NDJSON'
      ? (await import('@deskwire/mirror/ndjson')).exportNdjson
      : (await import('@deskwire/mirror/parquet')).exportParquet
  const loaded = await secondsOf(() => write(options))
  return { loaded, verified: 0, megabytes: maxMegabytes(), isExact: true }
}

async function mirrored(store: Store): Promise<MirrorReport> {
  const mirror = new Mirror({ client, store })
  const loaded = await secondsOf(() => mirror.catchUp())
  const megabytes = maxMegabytes()
  let isExact = false
  const verified = await secondsOf(async () => {
    isExact = (await mirror.verify()).exact
  })
  await mirror.close()
  return { loaded, verified, megabytes, isExact }
}

function maxMegabytes(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}

async function storeOf({ store, file, connection }: MirrorOrder): Promise<Store | null> {
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
    case 'NDJSON':
    case 'Parquet':
      return null
  }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now()
  await work()
  return (performance.now() - since) / 1_000
}
