import { Pool, type PoolConfig } from 'pg'

/** Where the database is: a URL, or what the embedded launcher says. */
export type DatabaseAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

/**
 * A pool of connections. A statement may take 30 s and no more; a connection that breaks while idle is reported
 * and replaced, never thrown into the middle of the process.
 */
export function createPool(
  address: DatabaseAddress,
  options: { readonly max: number; readonly onIdleError: (error: Error) => void },
): Pool {
  const where: PoolConfig = 'url' in address ? { connectionString: address.url } : address
  const pool = new Pool({
    ...where,
    max: options.max,
    application_name: 'deskwire',
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
  })
  pool.on('error', (error) => {
    // A server that is stopped next may end connections before they have said goodbye.
    if (!pool.ending) options.onIdleError(error)
  })
  return pool
}
