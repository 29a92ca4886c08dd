/** The database that the settings ask for: a server by URL, or the embedded one. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { findEmbedded, startEmbedded } from './embedded/index.ts'
import { createPool, type DatabaseAddress, directAddress, endPool, isPooled } from './pool.ts'
import { PoolerError, requireSessions } from './pooler.ts'

/** The settings that say where the database is. */
export interface DatabaseSettings {
  readonly databaseUrl: string | null
  readonly databaseDirectUrl: string | null
  readonly dataDir: string
}

export interface OpenDatabase {
  readonly pool: Pool
  /** For what needs a session; the same pool where there is no pooler. */
  readonly sessions: Pool
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

/**
 * Starts the embedded database, or uses the server at DESKWIRE_DATABASE_URL.
 * @throws PoolerError when sessions would be lost on the way there.
 */
export async function openDatabase(config: DatabaseSettings, log: FastifyBaseLogger): Promise<OpenDatabase> {
  const onIdleError = (error: Error) =>
    log.warn({ reason: error.message }, 'an idle database connection broke')
  const address = serverAddress(config)
  if (address !== null) {
    await requireSessions(address)
    const pool = createPool(address, { max: connections, onIdleError })
    const sessions = isPooled(address) ? createPool(directAddress(address), { max: 1, onIdleError }) : pool
    const close = async () =>
      void (await Promise.all([...new Set([pool, sessions])].map((each) => endPool(each))))
    return { pool, sessions, address, lost: new Promise(() => {}), close }
  }
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    log: (level, message, fields) => log[level](fields ?? {}, message),
  })
  const pool = createPool(embedded.connection, { max: connections, onIdleError })
  return {
    pool,
    sessions: pool,
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
 * started for as long as the command takes. A pooler is passed by: commands keep sessions, and are few.
 */
export async function openDatabaseBeside(
  config: DatabaseSettings,
  log: FastifyBaseLogger,
): Promise<OpenDatabase> {
  const address = serverAddress(config)
  if (address !== null) {
    const databaseUrl = address.directUrl ?? address.url
    return openDatabase({ ...config, databaseUrl, databaseDirectUrl: null }, log)
  }
  const running = await findEmbedded(config.dataDir)
  if (running === null) return openDatabase(config, log)
  const pool = createPool(running, { max: 2, onIdleError: () => {} })
  return { pool, sessions: pool, address: running, lost: new Promise(() => {}), close: () => endPool(pool) }
}

/** Null for the embedded one. */
function serverAddress({ databaseUrl, databaseDirectUrl }: DatabaseSettings) {
  if (databaseUrl !== null) return { url: databaseUrl, directUrl: databaseDirectUrl ?? undefined }
  if (databaseDirectUrl === null) return null
  throw new PoolerError(
    'DESKWIRE_DATABASE_DIRECT_URL: DESKWIRE_DATABASE_URL is not set; set it to the pooler or, where there is none, to this URL, and this one to nothing',
  )
}
