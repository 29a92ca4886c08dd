/**
 * A desk whose processes a test can kill: a service of role `all` with the embedded database, and an API and a worker
 * that share that database.
 */
import type { Pool } from 'pg'
import { processesOf } from '../embedded-postgres/src/processes.ts'
import { eventually } from './eventually.ts'
import { install } from './installation.ts'
import { type Call, dice, type Load } from './load.ts'
import { kill } from './program.ts'
import type { Environment, ServiceProcess } from './services.ts'

/** An organization that writes. */
export interface Tenant {
  readonly token: string
  readonly load: Load
}

export interface Desk extends AsyncDisposable {
  readonly holder: ServiceProcess
  readonly api: ServiceProcess
  readonly worker: ServiceProcess
  /** With a connection to the database as it runs now. */
  query<T>(work: (pool: Pool) => Promise<T>): Promise<T>
  killPostmaster(): Promise<void>
  /** Kills a connection's server process, after which PostgreSQL ends all others and recovers. */
  killBackend(): Promise<void>
  /** Starts what does not run. */
  revive(): Promise<void>
  /** Writes at both APIs, until so many changes are acknowledged or it is stopped. */
  write(tenant: Tenant, changes: number, seed: number): { done: Promise<unknown>; stop(): Promise<void> }
  /** SIGTERM to all, the embedded database's process last. Returns the exit codes. */
  stop(): Promise<(number | null)[]>
  /** Output of the services that is neither log nor meant for people. */
  crashes(): string[]
}

/** `await using desk = await openDesk(settings)`. */
export async function openDesk(settings: Environment): Promise<Desk> {
  const installation = await install(settings)
  const all: ServiceProcess[] = []

  const start = async (...what: Parameters<typeof installation.start>) => {
    const service = await installation.start(...what)
    all.push(service)
    return service
  }
  try {
    let holder = await start('holder', 'all')
    let api = await start('beside', 'api')
    let worker = await start('beside', 'worker')
    const query = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
      const pool = await installation.connect()
      try {
        return await work(pool)
      } finally {
        await pool.end()
      }
    }

    const serving = () => [holder, api].filter((service) => service.running())

    return {
      get holder() {
        return holder
      },
      get api() {
        return api
      },
      get worker() {
        return worker
      },
      query,
      async killPostmaster() {
        kill(await installation.postmasterPid())
      },
      async killBackend() {
        const pid = await query(async (pool) => {
          const { rows } = await pool.query<{ pid: number }>(
            `select a.pid from pg_stat_activity a where a.application_name = 'deskwire' and a.pid <> pg_backend_pid()
               order by a.state = 'active' desc, a.query_start desc limit 1`,
          )
          return rows[0]!.pid
        })
        expectOurs(await processesOf(`${installation.dataDir}/postgres`), pid)
        kill(pid)
        await eventually('the database has recovered', () =>
          query((pool) => pool.query('select 1')).then(
            () => true,
            () => false,
          ),
        )
      },
      async revive() {
        if (!holder.running()) holder = await start('holder', 'all')
        const beside = await Promise.all([
          api.running() ? api : start('beside', 'api'),
          worker.running() ? worker : start('beside', 'worker'),
        ])
        ;[api, worker] = beside as [ServiceProcess, ServiceProcess]
      },
      write({ load, token }, changes, seed) {
        const enough = load.acknowledged.length + changes
        let stopping = false
        const writers = Array.from({ length: 8 }, async (_, n) => {
          const roll = dice(seed + n)
          const over = () => stopping || load.acknowledged.length >= enough
          while (!over()) {
            await eventually('a service takes changes', () => over() || serving().length > 0)
            const at = serving()
            const service = at[n % at.length]
            if (service !== undefined) await load.write(callOf(service.url, token), roll)
          }
        })
        const done = Promise.all(writers)
        return {
          done,
          async stop() {
            stopping = true
            await done
          },
        }
      },
      async stop() {
        const beside = await Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')])
        return [...beside, await holder.end('SIGTERM')].map(({ code }) => code)
      },
      crashes: () => all.flatMap(({ output }) => output.all.split('\n').filter(isCrash)),
      [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
    }
  } catch (error) {
    await installation[Symbol.asyncDispose]()
    throw error
  }
}

function expectOurs(pids: readonly number[], pid: number): void {
  if (!pids.includes(pid)) throw new Error(`process ${pid} is none of the test's database`)
}

/** The log is JSON lines; messages for people begin with one of these words. */
function isCrash(line: string): boolean {
  return (
    line !== '' &&
    !/^(\{|(?:worker )?listening on |guides and reference at |console at |delivering$|organization |its API key|deskwire: )/.test(
      line,
    )
  )
}

export function callOf(url: string, token: string): Call {
  return async (method, path, body, headers) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
}

/** All at once. */
export async function createCustomers(
  { url }: { readonly url: string },
  token: string,
  count: number,
): Promise<void> {
  const call = callOf(url, token)
  const make = (n: number) => call('POST', '/v1/customers', { name: `c${n}` })
  const answers = await Promise.all(Array.from({ length: count }, (_, n) => make(n)))
  const refused = answers.find(({ status }) => status !== 201)
  if (refused !== undefined) throw new Error(`a customer was refused: ${refused.status} ${refused.text}`)
}
