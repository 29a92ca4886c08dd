/**
 * Moves an organization between two databases, while it is written to, followed and delivered from, and movers,
 * services, workers and either database are killed. The recorded history is checked.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { migrate } from '../../packages/service/src/db/migrate.ts'
import { systemClock } from '../../packages/service/src/kernel/timestamps.ts'
import { createOrganization } from '../../packages/service/src/organization/create.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { type Hooks, startHooks } from '../../packages/testbed/arrivals.ts'
import { openServer } from '../../packages/testbed/embedded-server.ts'
import { dice } from '../../packages/testbed/load.ts'
import {
  createServices,
  type Environment,
  type ServiceProcess,
  type Services,
} from '../../packages/testbed/services.ts'
import { checkHistory } from './history/check.ts'
import { historyFile } from './history/format.ts'
import type { Verdict } from './history/verdict.ts'
import { createRecorder, fileSink } from './load/recorder.ts'
import { createReaders, work } from './load/run.ts'
import { storedLines } from './load/stored.ts'
import { type Call, createWriters } from './load/writer.ts'

interface MoveTortureOptions {
  readonly changes: number
  /** At least. */
  readonly moves: number
  readonly writers: number
  readonly limits: readonly number[]
  readonly seed: number
  readonly say: (line: string) => void
}

export interface MoveTortureReport {
  readonly verdict: Verdict
  readonly seconds: number
  readonly moves: number
  readonly kills: Readonly<Record<'mover' | 'service' | 'first database' | 'second database', number>>
  /** Milliseconds that writes waited at each cutover whose mover survived to report it. */
  readonly pauses: readonly number[]
  readonly tally: Readonly<Record<string, number>>
  /**
   * Events for an endpoint; those that did not arrive, and of these the ones whose subject was removed; and those that
   * arrived more than once.
   */
  readonly deliveries: {
    readonly events: number
    readonly lost: number
    readonly withoutSubject: number
    readonly again: number
  }
  /** Errors of movers that failed by themselves. */
  readonly failures: readonly string[]
}

const names = ['first', 'second'] as const
type Name = (typeof names)[number]
/** This share of movers is killed, within so many milliseconds. */
const killedMovers = { share: 0.6, within: 5_000 }
/** Milliseconds between two other kills. */
const betweenKills = [4_000, 12_000] as const
const told = ['customer.created', 'customer.updated', 'ticket.created']
const patience = 30_000

export async function runMoveTorture(options: MoveTortureOptions): Promise<MoveTortureReport> {
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-moves-'))
  const file = join(directory, 'history.ndjson')
  try {
    const done = await record(options, directory, file)
    options.say('checking what was recorded')
    return { ...done, verdict: await checkHistory(historyFile(file)) }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

async function record(
  { changes, moves, writers: clients, limits, seed, say }: MoveTortureOptions,
  directory: string,
  file: string,
): Promise<Omit<MoveTortureReport, 'verdict'>> {
  await using hooks = await startHooks()
  await using first = await openServer(join(directory, 'first'))
  await using second = await openServer(join(directory, 'second'))
  const servers = { first, second }
  await using services = createServices()
  const settings: Environment = {
    ...hooks.settings,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_DATABASES: names.map((name) => `${name} ${servers[name].url}`).join(';'),
    DESKWIRE_ANSWER_TIMEOUT: '1s',
    DESKWIRE_RETRY_DELAYS: Array(20).fill('500ms').join(),
    DESKWIRE_LOG_LEVEL: 'fatal',
  }
  for (const name of names) await migrate(servers[name].pool, schemaOf())
  const { organizationId, token } = await createOrganization(first.pool, systemClock, 'Moves')
  const fleet = await startFleet(services, settings, 2)
  await hooks.register({ url: fleet.url(), token }, 'moved', told)

  const sink = fileSink(file)
  const recorder = createRecorder((line) => sink.write(line))
  const writers = createWriters(recorder)
  const readers = createReaders(recorder, limits)
  const call = callOf(fleet, token)
  const roll = dice(seed)
  const kills = { mover: 0, service: 0, 'first database': 0, 'second database': 0 }
  const pauses: number[] = []
  const failures: string[] = []
  let at: Name = 'first'
  let moved = 0
  let stopping = false

  /** Runs the command until it finishes, however often it is killed. */
  const command = async (args: readonly string[]) => {
    for (;;) {
      const program = services.start([...args, '--json'], settings)
      if (roll() < killedMovers.share)
        void delay(roll() * killedMovers.within).then(() => program.end('SIGKILL'))
      const { code, stdout, stderr } = await program.ended
      if (code === 0) return JSON.parse(stdout) as { paused?: number | null }
      if (code === null) kills.mover++
      else failures.push(stderr.trim().split('\n').at(-1) ?? '')
      if (stopping && code !== null) await delay(1_000)
    }
  }
  const moving = async () => {
    while (!stopping || moved < moves) {
      const to: Name = at === 'first' ? 'second' : 'first'
      const { paused } = await command(['organizations', 'move', organizationId, '--to', to])
      if (typeof paused === 'number') pauses.push(paused)
      await command(['organizations', 'drop-source', organizationId, '--from', at]).catch(() => {})
      at = to
      moved++
      recorder.write({ does: 'mark', what: `served by the ${to} database` })
      say(`${moved} moves, ${writers.acknowledged} changes acknowledged`)
    }
  }
  const killing = async () => {
    for (let n = 0; !stopping; n++) {
      const [least, most] = betweenKills
      await delay(least + roll() * (most - least))
      if (stopping) return
      const database = n % 3 === 2 ? names[Math.floor(roll() * 2)] : undefined
      recorder.write({ does: 'mark', what: `kill -9 of ${database ?? 'a service'}` })
      if (database === undefined) {
        await fleet.kill(Math.floor(roll() * 2))
        kills.service++
      } else {
        await servers[database].kill()
        await servers[database].start()
        kills[`${database} database`]++
      }
    }
  }
  const since = performance.now()
  const moves_ = moving()
  const kills_ = killing()
  try {
    await Promise.race([
      work({ recorder, writers, readers, call, clients, changes, seed, mayEnd: () => moved >= moves }),
      Promise.all([moves_, kills_]).then(() => new Promise(() => {})),
    ])
  } finally {
    stopping = true
  }
  await Promise.all([moves_, kills_])
  const seconds = (performance.now() - since) / 1_000
  say(`${writers.acknowledged} changes acknowledged in ${Math.round(seconds)} s; followers catch up`)
  for (const reader of readers) await reader.drain(call)
  const { pool } = servers[at]
  const deliveries = await accountOf(pool, organizationId, hooks)
  for await (const line of storedLines(pool, organizationId)) recorder.write(line)
  await sink.close()
  return {
    seconds,
    moves: moved,
    kills,
    pauses,
    tally: Object.fromEntries(writers.tally),
    deliveries,
    failures,
  }
}

/** The outcome of the endpoint's events, once all have arrived or no more arrive. */
async function accountOf(pool: Pool, organizationId: string, hooks: Hooks) {
  const { rows } = await pool.query<{ id: string }>(
    'select e.id from events e where e.organization_id = $1 and e.type = any($2)',
    [organizationId, told],
  )
  const arrived = () => new Set(hooks.arrivals.map(({ eventId }) => eventId))
  const missing = async () => {
    const there = arrived()
    const { rows: gone } = await pool.query<{ id: string }>(
      `select d.event_id as id from deliveries d
        where d.organization_id = $1 and d.last_error_code = 'subject_unavailable'`,
      [organizationId],
    )
    const withoutSubject = new Set(gone.map(({ id }) => id).filter((id) => !there.has(id)))
    const lost = rows.filter(({ id }) => !there.has(id) && !withoutSubject.has(id)).length
    return { lost, withoutSubject: withoutSubject.size }
  }
  let now = await missing()
  for (let quiet = 0, before = -1; quiet < 60 && now.lost > 0; now = await missing()) {
    await delay(1_000)
    quiet = hooks.arrivals.length === before ? quiet + 1 : 0
    before = hooks.arrivals.length
  }
  return { events: rows.length, ...now, again: hooks.arrivals.length - arrived().size }
}

interface Fleet {
  /** Of a running service, in turn. */
  url(): string
  /** kill -9 of one with its worker, and starts another. */
  kill(n: number): Promise<void>
}

async function startFleet(services: Services, settings: Environment, size: number): Promise<Fleet> {
  const start = () => services.serve(['--role', 'all', '--host', '127.0.0.1'], settings)
  const running: (ServiceProcess | null)[] = await Promise.all(Array.from({ length: size }, start))
  let turn = 0
  return {
    url() {
      const up = running.filter((one) => one !== null)
      const chosen = up[turn++ % Math.max(up.length, 1)]
      if (chosen === undefined) throw new Error('no service runs')
      return chosen.url
    },
    async kill(n) {
      const victim = running[n]
      if (victim == null) return
      running[n] = null
      const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid='])
      const children = stdout
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number))
        .filter(([, parent]) => parent === victim.pid)
      // Half of the time its worker survives for a moment, and finds its parent gone.
      if (turn % 2 === 0) for (const [pid] of children) if (pid !== undefined) process.kill(pid, 'SIGKILL')
      await victim.end('SIGKILL')
      running[n] = await start()
    },
  }
}

function callOf(fleet: Fleet, token: string): Call {
  return async (method, path, body) => {
    const response = await fetch(fleet.url() + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patience),
    })
    return { status: response.status, text: await response.text() }
  }
}
