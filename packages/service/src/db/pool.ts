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

/** Where the database is: a URL, or what the embedded launcher says. */
export type DatabaseAddress =
  | {
      readonly url: string
      /**
       * The same database without the pooler that stands at `url`: for listening, for locks of a session, for migrations.
       * With it, nothing that goes to `url` needs a session.
       */
      readonly directUrl?: string | undefined
    }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

/** Whether there is a pooler in between that may keep no sessions. */
export function isPooled(address: DatabaseAddress): boolean {
  return 'directUrl' in address && address.directUrl !== undefined
}

/** The address for what needs a session. */
export function directAddress(address: DatabaseAddress): DatabaseAddress {
  return 'directUrl' in address && address.directUrl !== undefined ? { url: address.directUrl } : address
}

/** How long a statement may take, in milliseconds; then the server ends it. A `statement_timeout` in the URL wins. */
const statementMilliseconds = 30_000
/** How long a transaction may wait for its next statement, in milliseconds. */
const idleInTransaction = 30_000
/**
 * A connection that carries nothing is asked for after this time, in milliseconds, and given up when the machine behind it has
 * not answered ten times, a second apart (what Node sets on every system): also while a statement is awaited.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

/** Whatever runs single statements. */
export type Queryable = Pick<Pool, 'query'>

/**
 * A pool of connections. A statement may take 30 s and no more; a connection that breaks while idle is reported
 * and replaced, never thrown into the middle of the process. One whose server has vanished in silence is ended
 * (`silence.ts`), and the idle ones with it. Where sessions are not kept, none is relied on (`local-settings.ts`).
 */
export function createPool(
  address: DatabaseAddress,
  options: {
    readonly max: number
    readonly onIdleError: (error: Error) => void
    /** Settings of each connection, by their names. */
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
    // A server that is stopped next may end connections before they have said goodbye.
    if (!pool.ending) options.onIdleError(error)
  })
  const clients = new Set<PoolClient>()
  const idle = new Set<PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    // One that breaks while it is held, between two statements, fails the next one; unheard, it would end the process.
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

/** Runs one statement, which may take so long, in milliseconds, whatever the pool's may. */
export function queryWithin<R extends QueryResultRow>(
  pool: Queryable,
  milliseconds: number,
  query: QueryConfig,
): Promise<QueryResult<R>> {
  const within = new QueryWithSettings(query, undefined, { statement_timeout: String(milliseconds) })
  // Declared to return what it is given, as a client does: a pool returns a promise of what that calls back with.
  return pool.query(within) as unknown as Promise<QueryResult<R>>
}

/** Connections that are told with each transaction what others are told once. */
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

/** `pg` reads columns of JSON by JSON.parse. */
const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid: number, format) =>
  jsonTypes.includes(oid) ? readJson : types.getTypeParser(oid, format)

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
