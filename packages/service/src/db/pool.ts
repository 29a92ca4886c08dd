import { setTimeout as delay } from 'node:timers/promises'
import { type Client, Pool, type PoolClient, type PoolConfig } from 'pg'

/** Where the database is: a URL, or what the embedded launcher says. */
export type DatabaseAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

/** Whatever runs single statements. */
export type Queryable = Pick<Pool, 'query'>

/**
 * A pool of connections. A statement may take 30 s and no more; a connection that breaks while idle is reported
 * and replaced, never thrown into the middle of the process.
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
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
  })
  pool.on('error', (error) => {
    // A server that is stopped next may end connections before they have said goodbye.
    if (!pool.ending) options.onIdleError(error)
  })
  const clients = new Set<PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    // One that breaks while it is held, between two statements, fails the next one; unheard, it would end the process.
    client.on('error', () => {})
  })
  pool.on('remove', (client) => clients.delete(client))
  open.set(pool, clients)
  return pool
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
