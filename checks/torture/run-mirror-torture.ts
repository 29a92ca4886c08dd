/** Torture of a mirror: every process is killed and started repeatedly. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Mirror } from '@deskwire/mirror'
import { createClient } from '@deskwire/sdk'
import { Client } from 'pg'
import type { EmbeddedDatabase } from '../../packages/embedded-postgres/src/index.ts'
import { differencesByHand } from '../../packages/mirror/test/by-hand.ts'
import { historyFaults } from '../../packages/mirror/test/history.ts'
import { type Address, places, storeAt } from '../../packages/mirror/test/stores.ts'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { maxClockSkew } from '../../packages/service/src/journal/commit-protocol.ts'
import { dice } from '../../packages/testbed/load.ts'
import { passOn } from '../../packages/testbed/loopback.ts'
import { install } from './installation.ts'
import { createRecorder } from './load/recorder.ts'
import { work } from './load/run.ts'
import { createWriters } from './load/writer.ts'
import type { MirrorOrder, MirrorSays } from './mirror-process.ts'

export const stores = ['SQLite', 'PostgreSQL', 'DuckDB'] as const

export interface MirrorTortureReport {
  readonly store: (typeof stores)[number]
  readonly changes: number
  readonly rows: number
  readonly kills: Readonly<Record<'mirror' | 'service' | 'database' | 'store', number>>
  /** How often a mirror found its copy wrong. */
  readonly repaired: number
  readonly differences: readonly string[]
  readonly isExact: boolean
}

/** A store in a server that can be killed. */
interface Target extends AsyncDisposable {
  readonly address: Address
  /** kill -9 of its server, and another start on the same directory; false for a store without one. */
  kill(): Promise<boolean>
  sql(text: string): Promise<Record<string, unknown>[]>
}

const writers = 16
/** In milliseconds, between two kills. */
const pauses = {
  mirror: [300, 3_000],
  service: [2_000, 8_000],
  database: [15_000, 30_000],
  store: [5_000, 15_000],
} as const
const plurals = ['teammates', 'customers', 'conversations', 'messages', 'notes', 'tickets', 'bookings']

export async function runMirrorTorture(options: {
  readonly store: MirrorTortureReport['store']
  readonly seconds: number
  readonly seed: number
}): Promise<MirrorTortureReport> {
  const { store, seconds, seed } = options
  await using stack = new AsyncDisposableStack()
  const clocks = { behind: 3 * 3_600_000, ahead: 2 * maxClockSkew }
  const installation = stack.use(await install({ seed, clocks, unlocked: false, installed: null }))
  const target = stack.use(store === 'PostgreSQL' ? await postgresTarget() : await fileTarget(store))
  const front = stack.use(await passOn(() => Number(new URL(installation.url ?? 'http://127.0.0.1:1').port)))
  const client = { baseUrl: `http://127.0.0.1:${front.port}/v1`, apiKey: installation.organization.token }

  const kills = { mirror: 0, service: 0, database: 0, store: 0 }
  let repaired = 0
  const isOver = () => performance.now() - since > seconds * 1_000
  const since = performance.now()
  const again = async (what: keyof typeof kills, kill: () => Promise<boolean>) => {
    const roll = dice(seed + what.length)
    const [least, most] = pauses[what]
    while (!isOver()) {
      await delay(least + roll() * (most - least))
      if (isOver()) return
      if (await kill()) kills[what]++
    }
  }
  let mirror = startMirror()
  function startMirror(): ChildProcess {
    const child = fork(new URL('./mirror-process.ts', import.meta.url), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    child.on('message', ({ trouble }: MirrorSays) => {
      if (trouble === 'repaired') repaired++
    })
    child.send({ ...client, place: target.address } satisfies MirrorOrder)
    return child
  }
  const end = async (child: ChildProcess) => {
    if (child.exitCode !== null) throw new Error(`the mirror has ended by itself with ${child.exitCode}`)
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    return true
  }
  // One at a time: each is up again before the next kill.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(kill: () => Promise<T>): Promise<T> => {
    const done = turn.then(kill)
    turn = done.catch(() => {})
    return done
  }
  const asks = createWriters(createRecorder(() => {}))
  const roll = dice(seed)
  const writing = work({
    recorder: createRecorder(() => {}),
    writers: asks,
    readers: [],
    call: installation.call,
    clients: writers,
    changes: 0,
    seed,
    mayEnd: isOver,
  })
  await Promise.all([
    writing,
    again('mirror', async () => {
      await end(mirror)
      mirror = startMirror()
      return true
    }),
    again('service', () => inTurn(() => installation.killService(Math.floor(roll() * 3)).then(() => true))),
    again('database', () => inTurn(() => installation.killDatabase().then(() => true))),
    again('store', () => target.kill()),
  ])
  await end(mirror)

  const last = new Mirror({
    client: createClient(client),
    store: storeAt(target.address),
    onTrouble: ({ type }) => {
      if (type === 'repaired') repaired++
    },
  })
  await last.catchUp()
  const { exact, rows } = await last.verify()
  await last.close()
  const differences = [
    ...(await differencesByHand(createClient(client), target.sql, plurals)),
    ...(await historyFaults(target, plurals)),
  ]
  return {
    store,
    changes: asks.acknowledged,
    rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
    kills,
    repaired,
    differences,
    isExact: exact,
  }
}

async function fileTarget(store: 'SQLite' | 'DuckDB'): Promise<Target> {
  const place = await places[store]?.()
  if (place === undefined) throw new Error(`${store} is not to be had here`)
  return { ...place, kill: async () => false }
}

/** A server of its own, behind a stable address. */
async function postgresTarget(): Promise<Target> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deskwire-mirror-'))
  const start = () => embedded.start({ dataDir })
  let database: EmbeddedDatabase = await start()
  const front = await passOn(() => join(database.connection.host, `.s.PGSQL.${database.connection.port}`))
  const { user, database: name } = database.connection
  return {
    address: { connection: { host: '127.0.0.1', port: front.port, user, database: name } },
    async kill() {
      const [pid] = (await readFile(join(database.dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await database.lost
      await database.stop()
      database = await start()
      return true
    },
    async sql(text) {
      const client = new Client({ ...database.connection, options: '-c search_path=deskwire' })
      await client.connect()
      try {
        return (await client.query(text)).rows
      } finally {
        await client.end()
      }
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]()
      await database.stop()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    },
  }
}
