/** Opens the databases of the settings: servers by URL, or the embedded one. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { thinned } from '../kernel/log.ts'
import {
  DatabasesError,
  type DatabasesSetting,
  databasesSetting,
  type NamedDatabase,
  readDatabases,
} from './databases.ts'
import { embedded } from './embedded.ts'
import { createPool, type DatabaseAddress, directAddress, endPool, isPooled } from './pool.ts'
import { PoolerError, requireSessions } from './pooler.ts'

export interface DatabaseSettings {
  readonly databaseUrl: string | null
  readonly databaseDirectUrl: string | null
  readonly databases: DatabasesSetting | null
  readonly dataDir: string
}

export interface OpenDatabase {
  /** Its name among several; null when it is the only one. */
  readonly name: string | null
  readonly pool: Pool
  /** A pool for work that needs sessions; the same pool when there is no pooler. */
  readonly sessions: Pool
  /** For further connections and other processes. */
  readonly address: DatabaseAddress
  /** Resolves with the reason when the database process ends unexpectedly; never for a server by URL. */
  readonly lost: Promise<string>
  close(): Promise<void>
}

/**
 * Connections of the API: more than a few per core only wait for each other; the surplus keeps some free
 * (`fair-pool.ts`).
 */
export const connections = 16

/**
 * All databases of the settings, first the one with the directory. Several are not queried yet, as any may be
 * unavailable: `prepare` does that. `onBegun` is called once a program of the embedded database runs. @throws
 * PoolerError, DatabasesError
 */
export async function openDatabases(
  config: DatabaseSettings,
  log: FastifyBaseLogger,
  onBegun?: () => void,
): Promise<readonly [OpenDatabase, ...OpenDatabase[]]> {
  const named = await namedDatabases(config)
  if (named === null) return [await openDatabase(config, log, onBegun)]
  const [first, ...others] = named.map((each) => openServer(each.name, addressOf(each), log))
  if (first === undefined) throw new DatabasesError(`${databasesSetting}: no database is named`)
  return [first, ...others]
}

/**
 * The named databases, first the one with the directory; null for a single one without a name. @throws DatabasesError
 */
export async function namedDatabases(
  config: Pick<DatabaseSettings, 'databases' | 'databaseUrl' | 'databaseDirectUrl'>,
): Promise<readonly NamedDatabase[] | null> {
  const { databases, databaseUrl, databaseDirectUrl } = config
  if (databases === null) return null
  if (databaseUrl !== null || databaseDirectUrl !== null)
    throw new DatabasesError(
      `${databasesSetting} and DESKWIRE_DATABASE_URL are both set: name that database in the first line of ${databasesSetting}, and set the other to nothing`,
    )
  return readDatabases(databases)
}

function addressOf({ url, directUrl }: Omit<NamedDatabase, 'name'>): ServerAddress {
  return { url, directUrl: directUrl ?? undefined }
}

type ServerAddress = { readonly url: string; readonly directUrl: string | undefined }

export function openServer(
  name: string | null,
  address: ServerAddress,
  log: FastifyBaseLogger,
): OpenDatabase {
  const onIdleError = reportTo(log, name)
  const pool = createPool(address, { max: connections, onIdleError })
  const sessions = isPooled(address) ? createPool(directAddress(address), { max: 1, onIdleError }) : pool
  const close = async () =>
    void (await Promise.all([...new Set([pool, sessions])].map((each) => endPool(each))))
  return { name, pool, sessions, address, lost: new Promise(() => {}), close }
}

export function reportTo(log: FastifyBaseLogger, database: string | null = null): (error: Error) => void {
  const of = database === null ? {} : { database }
  const warn = thinned()
  return (error) => warn(log, { ...of, reason: error.message }, 'an idle database connection broke')
}

/**
 * The embedded database, or the server at DESKWIRE_DATABASE_URL. @throws PoolerError when a pooler does not preserve
 * sessions.
 */
async function openDatabase(
  config: Omit<DatabaseSettings, 'databases'>,
  log: FastifyBaseLogger,
  onBegun?: () => void,
): Promise<OpenDatabase> {
  const address = serverAddress(config)
  if (address !== null) {
    await requireSessions(address)
    return openServer(null, address, log)
  }
  const server = await embedded.start({
    dataDir: config.dataDir,
    log: (level, message, fields) => log[level](fields ?? {}, message),
    onBegun,
  })
  const pool = createPool(server.connection, { max: connections, onIdleError: reportTo(log) })
  return {
    name: null,
    pool,
    sessions: pool,
    address: server.connection,
    lost: server.lost,
    async close() {
      await endPool(pool)
      await server.stop()
    },
  }
}

/**
 * For commands: the running service's database, else one started for the command; without the pooler, as commands need
 * sessions.
 */
export async function openDatabaseBeside(
  config: Omit<DatabaseSettings, 'databases'>,
  log: FastifyBaseLogger,
): Promise<OpenDatabase> {
  const address = serverAddress(config)
  if (address !== null) {
    const databaseUrl = address.directUrl ?? address.url
    return openDatabase({ ...config, databaseUrl, databaseDirectUrl: null }, log)
  }
  const running = await embedded.find(config.dataDir)
  if (running === null) return openDatabase(config, log)
  const pool = createPool(running, { max: 2, onIdleError: () => {} })
  return {
    name: null,
    pool,
    sessions: pool,
    address: running,
    lost: new Promise(() => {}),
    close: () => endPool(pool),
  }
}

function serverAddress({
  databaseUrl,
  databaseDirectUrl,
}: Omit<DatabaseSettings, 'databases'>): ServerAddress | null {
  if (databaseUrl !== null) return { url: databaseUrl, directUrl: databaseDirectUrl ?? undefined }
  if (databaseDirectUrl === null) return null
  throw new PoolerError(
    'DESKWIRE_DATABASE_DIRECT_URL: DESKWIRE_DATABASE_URL is not set; set it to the pooler or, where there is none, to this URL, and this one to nothing',
  )
}
