/** A rollout under load, step by step, and its results. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { createPool, endPool } from '../../packages/service/src/db/pool.ts'
import { faultOf, type Hook, startHooks } from '../../packages/testbed/arrivals.ts'
import { eventually } from '../../packages/testbed/eventually.ts'
import {
  createServices,
  type Environment,
  main,
  type ServiceProcess,
  type Services,
  socketUrl,
} from '../../packages/testbed/services.ts'
import { checkHistory } from '../torture/history/check.ts'
import { historyFile } from '../torture/history/format.ts'
import type { Verdict } from '../torture/history/verdict.ts'
import { createRecorder, fileSink } from '../torture/load/recorder.ts'
import { createReaders, work } from '../torture/load/run.ts'
import { storedLines } from '../torture/load/stored.ts'
import { createWriters } from '../torture/load/writer.ts'
import { createBalancer, type Phase } from './balancer.ts'
import { releaseOf } from './release.ts'

interface Rollout {
  readonly verdict: Verdict
  readonly phases: readonly Phase[]
  readonly seconds: number
  readonly changes: number
  readonly followers: number
  readonly migrations: number
  /** Of subscribed types; each has to arrive at each endpoint. */
  readonly events: number
  readonly arrivals: number
  /** Not sent, as their subject had been removed. */
  readonly withoutSubject: number
  /** What happened to each other delivery that did not arrive. */
  readonly undelivered: readonly string[]
  /** What is wrong with arrivals. */
  readonly forged: readonly string[]
}

/** Of each follower. */
const limits = [100, 20, 100, 7, 100, 3]

/** Some thousand events each. */
const subscribed = ['customer.created', 'customer.deleted', 'ticket.created', 'booking.created']

/** In seconds: all arrivals are checked in the end. */
const wholeRollout = 3_600

export async function rollOut(options: {
  readonly revision: string
  readonly changes: number
  readonly writers: number
  readonly seed: number
  readonly say: (line: string) => void
}): Promise<Rollout> {
  const { revision, changes, seed, say } = options
  say(`${revision} is made ready`)
  const before = releaseOf(revision)
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-upgrade-'))
  const database = await embedded.start({ dataDir: join(directory, 'data') })
  await using hooks = await startHooks()
  await using processes = createProcesses(socketUrl(database.connection), hooks.settings)
  const pool = createPool(database.connection, { max: 2, onIdleError: () => {} })
  try {
    const balancer = createBalancer(processes.token)
    balancer.phase(`${revision} alone`)
    const old = [await processes.serve(before, 'all'), await processes.serve(before, 'api')] as const
    for (const { url } of old) await balancer.add(url)
    const registered: Hook[] = []
    for (const name of ['one', 'two'])
      registered.push(await hooks.register({ url: old[0].url, token: processes.token }, name, subscribed))

    const sink = fileSink(join(directory, 'history.ndjson'))
    const recorder = createRecorder((line) => sink.write(line))
    const writers = createWriters(recorder)
    const readers = createReaders(recorder, limits)
    const { call } = balancer
    const since = performance.now()
    let over = false
    let migrations = 0
    const rolling = (async () => {
      const next = async (name: string, share: number, step: () => Promise<void>) => {
        while (writers.acknowledged < changes * share) await delay(20)
        say(name)
        recorder.write({ does: 'mark', what: name })
        balancer.phase(name)
        await step()
      }
      const change = async (leaving: ServiceProcess, role: string) => {
        const coming = await processes.serve(main, role)
        await balancer.add(coming.url)
        await balancer.remove(leaving.url)
        const { code } = await leaving.end('SIGTERM')
        if (code !== 0) throw new Error(`a service ended with ${code}`)
      }
      await next('the schema is migrated under it', 0.2, async () => {
        migrations = await processes.migrate(main)
      })
      await next('an API of this release takes the place of one', 0.4, () => change(old[1], 'api'))
      await next('and one with its worker that of the other', 0.6, () => change(old[0], 'all'))
      await next('this release alone', 0.8, async () => {})
    })().finally(() => {
      over = true
    })
    const clients = options.writers
    await Promise.all([
      rolling,
      work({ recorder, writers, readers, call, clients, changes, seed, mayEnd: () => over }),
    ])
    const seconds = (performance.now() - since) / 1_000
    say('followers catch up, deliveries come to their end')
    for (const reader of readers) await reader.drain(call)
    await eventually('nothing is pending', async () => {
      const { rows } = await pool.query(`select 1 from deliveries where log_day = 'infinity' limit 1`)
      return rows.length === 0
    })
    const organizationId = await onlyOrganization()
    for await (const line of storedLines(pool, organizationId)) recorder.write(line)
    await sink.close()
    const { rows: events } = await pool.query<{ id: string }>(
      'select e.id from events e where e.organization_id = $1 and e.type = any($2)',
      [organizationId, subscribed],
    )
    const { rows: deliveries } = await pool.query<{
      webhookId: string
      eventId: string
      code: string | null
      became: string
    }>(
      `select d.webhook_id as "webhookId", d.event_id as "eventId", d.last_error_code as code,
           concat_ws(' ', d.event_type, d.status, d.last_error_code, d.last_error_message) as became
         from deliveries d where d.organization_id = $1`,
      [organizationId],
    )
    const arrived = new Set(hooks.arrivals.map(({ endpoint, eventId }) => `${endpoint} ${eventId}`))
    const faults = await Promise.all(
      hooks.arrivals.map((arrival) =>
        faultOf(arrival, registered.find(({ name }) => name === arrival.endpoint) as Hook, wholeRollout),
      ),
    )
    const missing = events.flatMap(({ id: eventId }) =>
      registered
        .filter(({ name }) => !arrived.has(`${name} ${eventId}`))
        .map(({ id }) => deliveries.find((one) => one.webhookId === id && one.eventId === eventId)),
    )
    say('checking what was recorded')
    return {
      verdict: await checkHistory(historyFile(join(directory, 'history.ndjson'))),
      phases: balancer.phases,
      seconds,
      changes: writers.acknowledged,
      followers: readers.length,
      migrations,
      events: events.length,
      arrivals: hooks.arrivals.length,
      withoutSubject: missing.filter((delivery) => delivery?.code === 'subject_unavailable').length,
      undelivered: missing
        .filter((delivery) => delivery?.code !== 'subject_unavailable')
        .map((delivery) => delivery?.became ?? 'no delivery was made'),
      forged: faults.filter((fault) => fault !== null),
    }
  } finally {
    await processes[Symbol.asyncDispose]()
    await endPool(pool)
    await database.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }

  async function onlyOrganization(): Promise<string> {
    const { rows } = await pool.query<{ id: string }>('select o.organization_id as id from organizations o')
    const [only] = rows
    if (only === undefined) throw new Error('there is no organization')
    return only.id
  }
}

/** Of either release on one database, all with the same settings. */
function createProcesses(databaseUrl: string, hookSettings: Environment) {
  const token = newToken()
  const settings = {
    ...hookSettings,
    DESKWIRE_DATABASE_URL: databaseUrl,
    DESKWIRE_BOOTSTRAP_KEY: token,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_LOG_LEVEL: 'warn',
  }
  const releases = new Map<string, Services>()
  const of = (main: string) => {
    const services = releases.get(main) ?? createServices({ main, shown: true })
    releases.set(main, services)
    return services
  }
  return {
    token,
    serve: (main: string, role: string) => of(main).serve(['--role', role], settings),
    /** Returns how many migrations were applied. */
    async migrate(main: string): Promise<number> {
      const { code, stdout } = await of(main).start(['migrate', '--json'], settings).ended
      if (code !== 0) throw new Error(`deskwire migrate ended with ${code}`)
      return (JSON.parse(stdout) as { applied: string[] }).applied.length
    },
    async [Symbol.asyncDispose]() {
      for (const services of releases.values()) await services[Symbol.asyncDispose]()
    },
  }
}
