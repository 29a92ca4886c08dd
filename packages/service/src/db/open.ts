/** The database that the settings ask for: a server by URL, or the embedded one. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { findEmbedded, startEmbedded } from './embedded/index.ts'
import { createPool, type DatabaseAddress, endPool } from './pool.ts'

/** The two settings that say where the database is. */
export interface DatabaseSettings {
  readonly databaseUrl: string | null
  readonly dataDir: string
}

export interface OpenDatabase {
  readonly pool: Pool
  /** Where it is, for other connections and other processes. */
  readonly address: DatabaseAddress
  /** Resolves with the reason when the database has ended by itself; never while it is reachable. */
  readonly lost: Promise<string>
  close(): Promise<void>
}

/**
 * Connections of the API. More than a few per core only wait for each other inside the database; what is above that keeps
 * some free while others are held (`fair-pool.ts`).
 */
export const connections = 16

/** Starts the embedded database, or uses the server at DESKWIRE_DATABASE_URL. */
export async function openDatabase(config: DatabaseSettings, log: FastifyBaseLogger): Promise<OpenDatabase> {
  const onIdleError = (error: Error) =>
    log.warn({ reason: error.message }, 'an idle database connection broke')
  if (config.databaseUrl !== null) {
    const address = { url: config.databaseUrl }
    const pool = createPool(address, { max: connections, onIdleError })
    return { pool, address, lost: new Promise(() => {}), close: () => endPool(pool) }
  }
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    log: (level, message, fields) => log[level](fields ?? {}, message),
  })
  const pool = createPool(embedded.connection, { max: connections, onIdleError })
  return {
    pool,
    address: embedded.connection,
    lost: embedded.lost,
    async close() {
      await endPool(pool)
      await embedded.stop()
    },
  }
}

/**
 * For commands beside a running service: its database, or, when none runs on the data directory, that database
 * started for as long as the command takes.
 */
export async function openDatabaseBeside(
  config: DatabaseSettings,
  log: FastifyBaseLogger,
): Promise<OpenDatabase> {
  const running = config.databaseUrl === null ? await findEmbedded(config.dataDir) : null
  if (running === null) return openDatabase(config, log)
  const pool = createPool(running, { max: 2, onIdleError: () => {} })
  return { pool, address: running, lost: new Promise(() => {}), close: () => endPool(pool) }
}
