import { setTimeout as delay } from 'node:timers/promises'
import { readJson } from '@deskwire/sdk/json'
import {
  type Client,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
  types,
} from 'pg'
import { clientWithoutSession, type LocalSettings, QueryWithSettings } from './local-settings.ts'
import { allowStatements, endWhenSilent, statementTimeoutOf } from './silence.ts'

/** The address of the database: a URL, or that of the embedded launcher. */
export type DatabaseAddress =
  | {
      readonly url: string
      /**
       * The same database without the pooler at `url`: for LISTEN, session locks and migrations. When set,
       * nothing sent to `url` needs a session.
       */
      readonly directUrl?: string | undefined
    }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

/** Whether there is a pooler in between that may not preserve sessions. */
export function isPooled(address: DatabaseAddress): boolean {
  return 'directUrl' in address && address.directUrl !== undefined
}

/** The address for work that needs a session. */
export function directAddress(address: DatabaseAddress): DatabaseAddress {
  return 'directUrl' in address && address.directUrl !== undefined ? { url: address.directUrl } : address
}

/** Statement timeout, in milliseconds. A `statement_timeout` in the URL wins. */
const statementMilliseconds = 30_000
/** How long a transaction may be idle, in milliseconds. */
const idleInTransaction = 30_000
/**
 * TCP keep-alive: probes an idle connection after this time, in milliseconds, and ends it after ten missed
 * responses, a second apart (Node's values), also while a statement is running.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

/** Anything that runs single statements. */
export type Queryable = Pick<Pool, 'query'>

/**
 * A pool of connections. A statement may take at most 30 s. A connection that breaks while idle is logged and
 * replaced, not thrown. One whose server has disappeared is closed (`silence.ts`), and the idle ones with it.
 * Without sessions, every setting is sent with each statement (`local-settings.ts`).
 */
export function createPool(
  address: DatabaseAddress,
  options: {
    readonly max: number
    readonly onIdleError: (error: Error) => void
    /** Settings of each connection, by name. */
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
    // A connection that breaks between two statements fails the next one; without a listener, the error would
    // end the process.
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

/** Runs one statement with its own time limit in milliseconds, which overrides the pool's. */
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

/** How long running statements may take when their pool is closed, in milliseconds. */
const graceMilliseconds = 1_000

/**
 * Closes a pool of `createPool`. The caller has waited for its own work, so a statement that is still running
 * is stuck: its connection is cut after `grace` milliseconds.
 */
export async function endPool(pool: Pool, grace = graceMilliseconds): Promise<void> {
  const over = new AbortController()
  const cut = delay(grace, undefined, { signal: over.signal, ref: false }).then(
    // A client with a running statement closes its socket at once.
    () => Promise.all([...(open.get(pool) ?? [])].map((client) => (client as unknown as Client).end())),
    () => {},
  )
  await Promise.race([pool.end(), cut])
  over.abort()
}
