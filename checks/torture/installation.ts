/** An embedded database and three services on it, which can be killed and started again. */
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import type { EmbeddedDatabase } from '../../packages/embedded-postgres/src/index.ts'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { migrate } from '../../packages/service/src/db/migrate.ts'
import type { SchemaFunction } from '../../packages/service/src/db/migration.ts'
import { createPool } from '../../packages/service/src/db/pool.ts'
import { systemClock } from '../../packages/service/src/kernel/timestamps.ts'
import { createOrganization, type NewKey } from '../../packages/service/src/organization/create.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import type { Call } from './load/writer.ts'
import type { ServiceOrders, ServiceReport } from './service-process.ts'

export interface Installation extends AsyncDisposable {
  readonly organization: NewKey
  /** Its processes are recognized by this directory. */
  readonly cluster: string
  /** Connections to the database as it runs now. */
  readonly pool: Pool
  /** Calls one of the running services, in turn; waits while there is none. */
  readonly call: Call
  /** The address of a running service, if any. */
  readonly url: string | undefined
  /** kill -9 of one service, and starts another. */
  killService(n: number): Promise<void>
  /** kill -9 of the database and its services; all are started again. */
  killDatabase(): Promise<void>
}

/** In milliseconds, for a response. */
const patience = 20_000

const services = 3

/** Of the bundle that a run of tests builds, otherwise the sources. */
const bundle = process.env.TESTED_DESKWIRE
const program = bundle
  ? join(dirname(bundle), 'torture-service.js')
  : new URL('./service-process.ts', import.meta.url)

export async function install(options: {
  readonly seed: number
  readonly clocks: Omit<ServiceOrders['clock'], 'seed'>
  /** Without the lock on the clock: a service that loses records, to see that this is found. */
  readonly unlocked: boolean
  /** A data directory with the schema, to begin with a copy of it; null: the database is created. */
  readonly installed: string | null
}): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deskwire-torture-'))
  if (options.installed !== null) await promisify(execFile)('cp', ['-Rp', `${options.installed}/.`, dataDir])
  let database = await embedded.start({ dataDir })
  let pool = openPool(database)
  let seed = options.seed
  let running: { child: ChildProcess; url: string }[] = []
  let turn = 0
  let changed = Promise.withResolvers<void>()

  const { commitFunction, ...schema } = schemaOf()
  await migrate(pool, schema)
  if (options.unlocked) await pool.query(withoutLock(commitFunction))
  const organization = await createOrganization(pool, systemClock, 'Torture')
  await Promise.all(Array.from({ length: services }, startService))

  async function startService(): Promise<void> {
    const child = fork(program, { serialization: 'advanced' })
    const answered = once(child, 'message')
    child.send({
      address: database.connection,
      clock: { ...options.clocks, seed: seed++ },
    } satisfies ServiceOrders)
    const [{ url }] = (await answered) as [ServiceReport]
    running.push({ child, url })
    changed.resolve()
    changed = Promise.withResolvers()
  }

  async function kill(child: ChildProcess): Promise<void> {
    running = running.filter((one) => one.child !== child)
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  const call: Call = async (method, path, body) => {
    while (running.length === 0) await changed.promise
    const { url } = running[turn++ % running.length] as (typeof running)[number]
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${organization.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patience),
    })
    return { status: response.status, text: await response.text() }
  }

  const cluster = join(database.dataDir, 'postgres')
  return {
    organization,
    cluster,
    get pool() {
      return pool
    },
    call,
    get url() {
      return running[turn++ % running.length]?.url
    },
    async killService(n) {
      const victim = running[n % Math.max(running.length, 1)]
      if (victim === undefined) return
      await kill(victim.child)
      await startService()
    },
    async killDatabase() {
      const victims = running
      running = []
      const pid = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0])
      process.kill(pid, 'SIGKILL')
      await database.lost
      await Promise.all(victims.map(({ child }) => kill(child)))
      await pool.end()
      await database.stop()
      database = await embedded.start({ dataDir })
      pool = openPool(database)
      await Promise.all(victims.map(startService))
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map(({ child }) => kill(child)))
      await pool.end()
      await database.stop()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    },
  }
}

function openPool({ connection }: EmbeddedDatabase): Pool {
  return createPool(connection, { max: 3, onIdleError: () => {} })
}

/** The commit function without its first lock, under its own name. */
function withoutLock({ definition }: SchemaFunction): string {
  const lock =
    /(from organization_clocks c\s+where c\.organization_id = p_organization_id) for no key update;/
  if (!lock.test(definition)) throw new Error('the commit function takes its clock in another way')
  return definition.replace(lock, '$1;')
}
