/** Connections to a database: pools of them, settings of single statements, and the end of connections that have gone silent. */
import type { Socket } from 'node:net'
import { readJson } from '@deskwire/sdk/json'
import {
  Client,
  type Connection,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type PoolConfig,
  Query,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
  types,
} from 'pg'
import { atMost } from '../kernel/periodic.ts'

/** A URL, or the address of the embedded database. */
export type DatabaseAddress =
  | {
      readonly url: string
      /** Without the pooler at `url`, for LISTEN, session locks and migrations. When set, `url` gets nothing that needs a session. */
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
/** Probes an idle connection after this time, in milliseconds, and ends it after ten missed responses, a second apart (Node's values). */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

export type Queryable = Pick<Pool, 'query'>

/**
 * A pool of connections. A statement may take 30 s. A connection that breaks while idle is logged and replaced. One whose server has
 * disappeared is closed (`endWhenSilent`), with the idle ones. Without sessions, settings are sent with each statement (`LocalSettings`).
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
  const pool = new Pool({
    ...('url' in address ? { connectionString: address.url } : address),
    ...(isPooled(address) ? withoutSessions(settings) : { options: startOptions(settings) }),
    max: options.max,
    types: { getTypeParser },
    application_name: 'deskwire',
    statement_timeout: statementMilliseconds,
    idle_in_transaction_session_timeout: idleInTransaction,
    connectionTimeoutMillis: 10_000,
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
    // Without a listener, the error of a connection that breaks between statements would end the process.
    client.on('error', () => {})
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
  const within = new QueryWithSettings(query, undefined, { statement_timeout: String(milliseconds) })
  // Typed to return its argument, as a client does; a pool returns a promise of the callback's value.
  return pool.query(within) as unknown as Promise<QueryResult<R>>
}

/** Connections without sessions: settings are sent with each transaction. */
function withoutSessions(settings: LocalSettings): PoolConfig {
  const Client = clientWithoutSession((client) => ({
    statement_timeout: String(statementTimeoutOf(client)),
    idle_in_transaction_session_timeout: String(idleInTransaction),
    ...settings,
  }))
  return { Client: Client as unknown as NonNullable<PoolConfig['Client']> }
}

function startOptions(settings: LocalSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

const jsonTypes: readonly number[] = [types.builtins.JSON, types.builtins.JSONB]

/** Replaces JSON.parse, which `pg` uses for JSON columns. */
const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid: number, format) =>
  jsonTypes.includes(oid) ? readJson : types.getTypeParser(oid, format)

/** The connections of each pool, including those in use. */
const open = new WeakMap<Pool, ReadonlySet<PoolClient>>()

const graceMilliseconds = 1_000

/**
 * Closes a pool of `createPool`. The caller has waited for its own work, so a statement that still runs is stuck: its connection is cut
 * after `grace` milliseconds.
 */
export async function endPool(pool: Pool, grace = graceMilliseconds): Promise<void> {
  if (await atMost(grace, pool.end())) return
  // A client with a running statement closes its socket at once.
  await Promise.all([...(open.get(pool) ?? [])].map((client) => (client as unknown as Client).end()))
}

/**
 * Settings for a single statement, sent with it in one message, which is one transaction: no round trip, and nothing stays in the session.
 * So they work through a pooler in transaction mode. Clients of such a pool send all settings this way, and use unnamed statements
 * (decision 55).
 */
export type LocalSettings = Readonly<Record<string, string>>

/** For each connection without a session: the settings to send with its next statement. */
const withoutSession = new WeakMap<Connection, () => LocalSettings>()

/** Whether later statements can use what earlier ones prepared or set. */
export function keepsSession(connection: Connection): boolean {
  return !withoutSession.has(connection)
}

/** Sends settings for the next statement, within its message. Returns whether there were any. */
export function sendLocalSettings(connection: Connection, own: LocalSettings = {}): boolean {
  const settings = Object.entries({ ...withoutSession.get(connection)?.(), ...own })
  if (settings.length === 0) return false
  const calls = settings.map((_, n) => `set_config($${2 * n + 1}, $${2 * n + 2}, true)`)
  connection.parse({ name: '', text: `select ${calls.join(', ')}`, types: [] }, true)
  connection.bind({ statement: '', values: settings.flat() }, true)
  connection.execute(null, true)
  return true
}

interface InsideOfQuery {
  name?: string | undefined
  prepare(connection: Connection): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
}
const OpenQuery = Query as unknown as new (
  config: string | QueryConfig,
  values?: unknown,
) => Query & InsideOfQuery

/** pg's query, with settings for it alone; `own` override those of the connection. */
class QueryWithSettings extends OpenQuery {
  readonly #own: LocalSettings
  #settingsToCome = false

  constructor(config: string | QueryConfig, values?: unknown, own: LocalSettings = {}) {
    super(config, values)
    this.#own = own
  }

  requiresPreparation(): boolean {
    return true
  }

  override prepare(connection: Connection): void {
    if (!keepsSession(connection)) this.name = undefined
    const { statement_timeout: timeout } = this.#own
    if (timeout !== undefined) allowStatements({ connection }, Number(timeout))
    this.#settingsToCome = sendLocalSettings(connection, this.#own)
    super.prepare(connection)
  }

  override handleDataRow(message: unknown): void {
    if (!this.#settingsToCome) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#settingsToCome) this.#settingsToCome = false
    else super.handleCommandComplete(message, connection)
  }
}

/** Members that pg's types leave out of a client. */
interface InsideOfClient {
  readonly connection: Connection
  getStartupConf(): Readonly<Record<string, string>>
}
const OpenClient = Client as unknown as new (
  ...config: never[]
) => Omit<Client, 'query'> & InsideOfClient & { query(...asked: unknown[]): unknown }

/** Startup parameters that poolers accept; they refuse all others. */
const acceptedByPoolers = ['user', 'database', 'application_name', 'client_encoding', 'replication']

/** A client for connections without a session; `settingsOf` returns the settings of each transaction. */
function clientWithoutSession(settingsOf: (client: object) => LocalSettings): typeof Client {
  class ClientWithoutSession extends OpenClient {
    constructor(...config: never[]) {
      super(...config)
      // Inside a transaction the settings are already sent; after a failed one nothing can be sent.
      withoutSession.set(this.connection, () => (this.getTransactionStatus() === 'I' ? settingsOf(this) : {}))
    }

    override getStartupConf(): Readonly<Record<string, string>> {
      const all = Object.entries(super.getStartupConf())
      return Object.fromEntries(all.filter(([name]) => acceptedByPoolers.includes(name)))
    }

    override query(config: unknown, ...rest: unknown[]): unknown {
      if (typeof (config as { submit?: unknown }).submit === 'function') return super.query(config, ...rest)
      const callback = rest.find((one) => typeof one === 'function') as
        | ((...a: unknown[]) => void)
        | undefined
      const values = Array.isArray(rest[0]) ? rest[0] : undefined
      const query = new QueryWithSettings(config as string | QueryConfig, values)
      if (callback !== undefined) return super.query(query, callback)
      return new Promise((resolve, reject) =>
        super.query(query, (error: Error | null, result: unknown) =>
          error ? reject(error) : resolve(result),
        ),
      )
    }
  }
  return ClientWithoutSession as unknown as typeof Client
}

/** Milliseconds after the statement timeout. */
const silenceAfterwards = 2_000

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

/** Sets the assumed statement timeout of this connection until it is released, in milliseconds; 0: none. */
export function allowStatements(client: object, milliseconds: number): void {
  const { stream } = inside(client).connection
  const allowed = milliseconds === 0 ? 0 : milliseconds + silenceAfterwards
  // Each byte restarts the timer.
  if (stream.timeout !== allowed) stream.setTimeout(allowed)
}

/**
 * A server that disappears sends nothing more, and the system notices only after a quarter of an hour. So a connection is closed when no
 * byte arrived for two seconds longer than its statement may take: the statement rejects, and may have been executed. `others` are closed
 * with it, as they lead to the same server.
 */
function endWhenSilent(client: PoolClient, others: ReadonlySet<PoolClient>): void {
  allowStatements(client, statementTimeoutOf(client))
  const { stream } = inside(client).connection
  stream.on('timeout', () => {
    const { readyForQuery, _ending } = inside(client)
    if (readyForQuery && !_ending) return
    stream.destroy(silence())
    for (const other of others) inside(other).connection.stream.destroy(silence())
  })
}

/** The error of a connection that the system gave up. */
function silence(): Error {
  const message =
    'the database has said nothing for longer than a statement may take: the connection is given up'
  return Object.assign(new Error(message), { code: 'ETIMEDOUT', syscall: 'read' })
}
