/**
 * Connections to a database: pools of them, settings of single statements, and the end of connections that have gone
 * silent.
 */
import type { Socket } from 'node:net'
import { readJson } from '@deskwire/sdk/json'
import {
  type Client,
  type CustomTypesConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
  types,
} from 'pg'
import { atMost } from '../kernel/periodic.ts'
import { cached } from '../kernel/shared-work.ts'
import { type Clock, stopwatch } from '../kernel/timestamps.ts'
import { allowStatements, clientWith, type LocalSettings, QueryWithSettings } from './client.ts'

/** A URL, or the address of the embedded database. */
export type DatabaseAddress =
  | {
      readonly url: string
      /**
       * Without the pooler at `url`, for LISTEN, session locks and migrations. When set, `url` gets nothing that needs
       * a session.
       */
      readonly directUrl?: string | undefined
    }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

export function isPooled(address: DatabaseAddress): boolean {
  return 'directUrl' in address && address.directUrl !== undefined
}

/** The address for work that needs a session. */
export function directAddress(address: DatabaseAddress): DatabaseAddress {
  return 'directUrl' in address && address.directUrl !== undefined ? { url: address.directUrl } : address
}

/** Milliseconds. A `statement_timeout` in the URL wins. */
const statementMilliseconds = 30_000
const idleInTransaction = 30_000
/**
 * Probes an idle connection after this time, in milliseconds, and ends it after ten missed responses, a second apart
 * (Node's values).
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

export type Queryable = Pick<Pool, 'query'>

/** Milliseconds to get a connection, and until a pool that was refused one asks for it again. */
const connectsWithin = 10_000
const growsAgainAfter = 1_000

type Connected = (error: Error | undefined, client?: PoolClient, release?: (error?: Error) => void) => void

/** While the server refuses further connections, work waits for those that the pool has, instead of failing. */
class PatientPool extends Pool {
  private readonly most = this.options.max

  override connect(): Promise<PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<PoolClient> | undefined {
    if (callback !== undefined) {
      this.connectPatiently(callback, stopwatch())
      return
    }
    return new Promise((resolve, reject) =>
      this.connect((error, client) => (client === undefined ? reject(error) : resolve(client))),
    )
  }

  private connectPatiently(callback: Connected, elapsed: () => number, isRepeated = false): void {
    super.connect((error, client, release) => {
      const held = open.get(this)?.size ?? 0
      // Those that begin at the same time as this one may get a connection.
      const mayGet = held > 0 || (this.totalCount > 0 && !isRepeated)
      if (!isFull(error) || !mayGet || elapsed() >= connectsWithin) return callback(error, client, release)
      this.waitWith(Math.max(1, held))
      this.connectPatiently(callback, elapsed, true)
    })
  }

  private waitWith(connections: number): void {
    if (connections >= this.options.max) return
    this.options.max = connections
    setTimeout(() => {
      this.options.max = this.most
    }, growsAgainAfter).unref()
  }
}

/** Of the server, a role or a database: there are as many connections as it allows. */
function isFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '53300'
}

/**
 * A pool of connections. A statement may take 30 s. A connection that breaks while idle is logged and replaced. One
 * whose server has disappeared is closed (`endWhenSilent`), with the idle ones. Without sessions, settings are sent
 * with each statement (`LocalSettings`).
 */
export function createPool(
  address: DatabaseAddress,
  options: {
    readonly max: number
    readonly onIdleError: (error: Error) => void
    readonly settings?: LocalSettings
  },
): Pool {
  const { settings = {} } = options
  const pool = new PatientPool({
    ...('url' in address ? { connectionString: address.url } : address),
    Client: clientWith(settings, !isPooled(address)) as unknown as NonNullable<PoolConfig['Client']>,
    max: options.max,
    types: { getTypeParser },
    application_name: 'deskwire',
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: idleInTransaction,
    connectionTimeoutMillis: connectsWithin,
    idleTimeoutMillis: 60_000,
    ...keepAlive,
  })
  pool.on('error', (error) => {
    // A server that is being stopped may close connections before the pool does.
    if (!pool.ending) options.onIdleError(error)
  })
  const clients = new Set<PoolClient>()
  const idle = new Set<PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    endWhenSilent(client, idle)
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

export function queryWithin<R extends QueryResultRow>(
  pool: Queryable,
  milliseconds: number,
  query: QueryConfig,
): Promise<QueryResult<R>> {
  const limit = { statement_timeout: String(milliseconds) }
  const within = new QueryWithSettings(query, undefined, limit)
  // Typed to return its argument, as a client does; a pool returns a promise of the callback's value.
  return pool.query(within) as unknown as Promise<QueryResult<R>>
}

const jsonTypes: readonly number[] = [types.builtins.JSON, types.builtins.JSONB]

/** Replaces JSON.parse, which `pg` uses for JSON columns. */
const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid: number, format) =>
  jsonTypes.includes(oid) ? readJson : types.getTypeParser(oid, format)

/** The connections of each pool, including those in use. */
const open = new WeakMap<Pool, ReadonlySet<PoolClient>>()

const graceMilliseconds = 1_000

/**
 * Closes a pool of `createPool`. The caller has waited for its own work, so a statement that still runs is stuck: its
 * connection is cut after `grace` milliseconds.
 */
export async function endPool(pool: Pool, grace = graceMilliseconds): Promise<void> {
  if (await atMost(grace, pool.end())) return
  // A client with a running statement closes its socket at once.
  await Promise.all([...(open.get(pool) ?? [])].map((client) => (client as unknown as Client).end()))
}

/** Members that pg's types leave out of a connected client. */
interface ConnectedClient {
  readonly connection: { readonly stream: Socket }
  /** No statement is running. */
  readonly readyForQuery: boolean
  /** The client said goodbye and waits for the server to close. */
  readonly _ending: boolean
  readonly connectionParameters: { readonly statement_timeout: string | number | false }
}

const inside = (client: object) => client as ConnectedClient

/** The statement timeout of a client, in milliseconds; the URL's parameter wins. */
function statementTimeoutOf(client: object): number {
  return Number(inside(client).connectionParameters.statement_timeout)
}

/**
 * A server that disappears sends nothing more, and the system notices only after a quarter of an hour. So a connection
 * is closed when no byte arrived for two seconds longer than its statement may take: the statement rejects, and may
 * have been executed. `others` are closed with it, as they lead to the same server. A process that stood still (a
 * machine that slept) first reads what came meanwhile: its timers run before that.
 */
function endWhenSilent(client: PoolClient, others: ReadonlySet<PoolClient>): void {
  allowStatements(client, statementTimeoutOf(client))
  const { stream } = inside(client).connection
  stream.on('timeout', () => {
    const { bytesRead } = stream
    // After the next reads of the event loop.
    setImmediate(() => {
      const { readyForQuery, _ending } = inside(client)
      if (stream.bytesRead > bytesRead || (readyForQuery && !_ending)) return
      stream.destroy(silence())
      for (const other of others) inside(other).connection.stream.destroy(silence())
    })
  })
}

/** The error of a connection that the system gave up. */
function silence(): Error {
  const message =
    'the database has said nothing for longer than a statement may take: the connection is given up'
  return Object.assign(new Error(message), { code: 'ETIMEDOUT', syscall: 'read' })
}

/** Milliseconds for which a result is reused. */
const goodFor = 1_000
/** Milliseconds: an unreachable database may never respond. */
const respondsWithin = 2_000

/** Whether the database responds, asked at most once a second. */
export function createPing(pool: Pool, clock: Clock): () => Promise<boolean> {
  const ask = cached(() => pool.query('select i.singleton from installation i where i.singleton'), {
    clock,
    goodFor,
  })
  return () => atMost(respondsWithin, ask()).catch(() => false)
}

declare const inTransaction: unique symbol

/** A connection inside a transaction. A function that takes a Tx is part of its caller's commit. */
export type Tx = Pick<PoolClient, 'query'> & { readonly [inTransaction]: true }

export function transaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return ended(pool, 'commit', work)
}

/** Undoes the work, whatever it returns. */
export function withoutCommit<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return ended(pool, 'rollback', work)
}

async function ended<T>(pool: Pool, ending: 'commit' | 'rollback', work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client as unknown as Tx)
    await client.query(ending)
    return result
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    throw error
  } finally {
    client.release(broken)
  }
}
