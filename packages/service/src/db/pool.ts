import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, Pool, type PoolClient, type PoolConfig } from 'pg'

/** Where the database is: a URL, or what the embedded launcher says. */
export type DatabaseAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

/** How long a statement may take, in milliseconds; then the server ends it. A `statement_timeout` in the URL wins. */
const statementMilliseconds = 30_000
/** So much later a server that has not even said that it ended a statement is taken for gone, in milliseconds. */
const silenceAfterwards = 2_000
/**
 * A connection that carries nothing is asked for after this time, in milliseconds, and given up when the machine behind it has
 * not answered ten times, a second apart (what Node sets on every system): also while a statement is awaited.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

/** Whatever runs single statements. */
export type Queryable = Pick<Pool, 'query'>

/**
 * A pool of connections. A statement may take 30 s and no more; a connection that breaks while idle is reported
 * and replaced, never thrown into the middle of the process.
 *
 * A server that vanishes says nothing any more, and the system notices only after a quarter of an hour. So a connection on
 * which no byte came for two seconds longer than its statement may take is ended: the statement rejects as with a
 * connection that broke, and may have been executed. The pool's idle connections end with it: they lead to the same place.
 */
export function createPool(
  address: DatabaseAddress,
  options: {
    readonly max: number
    readonly onIdleError: (error: Error) => void
    /** Settings of each connection, by their names. */
    readonly settings?: Readonly<Record<string, string>>
  },
): Pool {
  const where: PoolConfig = 'url' in address ? { connectionString: address.url } : address
  const pool = new Pool({
    ...where,
    max: options.max,
    application_name: 'deskwire',
    ...(options.settings === undefined ? {} : { options: startOptions(options.settings) }),
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    ...keepAlive,
  })
  pool.on('error', (error) => {
    // A server that is stopped next may end connections before they have said goodbye.
    if (!pool.ending) options.onIdleError(error)
  })
  const clients = new Set<PoolClient>()
  const idle = new Set<PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    // One that breaks while it is held, between two statements, fails the next one; unheard, it would end the process.
    client.on('error', () => {})
    allowStatements(client, statementTimeoutOf(client))
    const { stream } = inside(client).connection
    stream.on('timeout', () => {
      if (!expectsAnswer(client)) return
      stream.destroy(silence())
      for (const other of idle) inside(other).connection.stream.destroy(silence())
    })
  })
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('release', (error, client) => {
    allowStatements(client, statementTimeoutOf(client))
    if (!error) idle.add(client)
  })
  pool.on('remove', (client) => {
    clients.delete(client)
    idle.delete(client)
  })
  open.set(pool, clients)
  return pool
}

/** What pg's declarations leave out of a connected client. */
interface ConnectedClient {
  readonly connection: { readonly stream: Socket }
  /** No statement is under way. */
  readonly readyForQuery: boolean
  /** It says good-bye, and waits for the server to close. */
  readonly _ending: boolean
  /** What it was connected with, the URL's parameters included. */
  readonly connectionParameters: { readonly statement_timeout: string | number | false }
}

const inside = (client: Pick<PoolClient, 'query'>) => client as unknown as ConnectedClient

function expectsAnswer(client: PoolClient): boolean {
  const { readyForQuery, _ending } = inside(client)
  return !readyForQuery || _ending
}

const statementTimeoutOf = (client: PoolClient) =>
  Number(inside(client).connectionParameters.statement_timeout)

/** As when the system gives a connection up while something is awaited. */
function silence(): Error {
  const message =
    'the database has said nothing for longer than a statement may take: the connection is given up'
  return Object.assign(new Error(message), { code: 'ETIMEDOUT', syscall: 'read' })
}

/**
 * Says how long statements of this connection may take until it is released, in milliseconds, when its session was told
 * something else than the pool's; 0 is for ever.
 */
export function allowStatements(client: Pick<PoolClient, 'query'>, milliseconds: number): void {
  inside(client).connection.stream.setTimeout(milliseconds === 0 ? 0 : milliseconds + silenceAfterwards)
}

/** Runs `work` on a connection whose statements may take so long, in milliseconds, whatever the pool's may. */
export async function withStatementTimeout<T>(
  pool: Pool,
  milliseconds: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = ${milliseconds}`)
    allowStatements(client, milliseconds)
    const result = await work(client)
    await client.query('reset statement_timeout')
    client.release()
    return result
  } catch (error) {
    // Not to be used again with a limit of another's.
    client.release(true)
    throw error
  }
}

function startOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** The connections of each pool, those in use included. */
const open = new WeakMap<Pool, ReadonlySet<PoolClient>>()

/** How long statements that are still under way may take when their pool is ended, in milliseconds. */
const graceMilliseconds = 1_000

/**
 * Ends a pool that `createPool` made. Who ends it has waited for what it was used for, so a statement that is
 * still under way then is a stuck one: its connection is cut rather than waited for.
 */
export async function endPool(pool: Pool, grace = graceMilliseconds): Promise<void> {
  const over = new AbortController()
  const cut = delay(grace, undefined, { signal: over.signal, ref: false }).then(
    // A client that is in the middle of a statement closes its socket without a farewell.
    () => Promise.all([...(open.get(pool) ?? [])].map((client) => (client as unknown as Client).end())),
    () => {},
  )
  await Promise.race([pool.end(), cut])
  over.abort()
}
