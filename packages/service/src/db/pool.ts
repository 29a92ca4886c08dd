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
 * disappeared is closed (`silence.ts`), with the idle ones. Without sessions, settings are sent with each statement (`local-settings.ts`).
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
  const over = new AbortController()
  const cut = delay(grace, undefined, { signal: over.signal, ref: false }).then(
    // A client with a running statement closes its socket at once.
    () => Promise.all([...(open.get(pool) ?? [])].map((client) => (client as unknown as Client).end())),
    () => {},
  )
  await Promise.race([pool.end(), cut])
  over.abort()
}
