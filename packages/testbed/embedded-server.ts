/** An embedded PostgreSQL server that can be killed and started again at the same address. */
import { readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmbeddedConnection, EmbeddedDatabase } from '@deskwire/embedded-postgres'
import type { Pool } from 'pg'
import { embedded } from '../service/src/db/embedded.ts'
import { createPool } from '../service/src/db/pool.ts'
import { socketUrl } from './services.ts'

export interface EmbeddedServer extends AsyncDisposable {
  /** Stays the same. */
  readonly connection: EmbeddedConnection
  readonly url: string
  /** Connections to it as it runs now. */
  readonly pool: Pool
  /** The postmaster. */
  pid(): Promise<number>
  /** kill -9. It stays down until `start`. */
  kill(): Promise<void>
  /** On the same data. */
  start(): Promise<void>
}

/** `await using server = await openServer(home)`. Data and socket are below this directory. */
export async function openServer(home: string): Promise<EmbeddedServer> {
  const dataDir = join(home, 'data')
  const socket = `${home}.socket`
  let database = await begin()
  const connection = { ...database.connection, host: socket }
  const connect = () => createPool(connection, { max: 4, onIdleError: () => {} })
  let pool = connect()

  async function begin(): Promise<EmbeddedDatabase> {
    const started = await embedded.start({ dataDir })
    await rm(socket, { force: true })
    await symlink(started.connection.host, socket)
    return started
  }

  async function pid(): Promise<number> {
    const file = await readFile(join(database.dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    return Number(file.split('\n')[0])
  }

  return {
    connection,
    url: socketUrl(connection),
    get pool() {
      return pool
    },
    pid,
    async kill() {
      process.kill(await pid(), 'SIGKILL')
      await database.lost
      await pool.end().catch(() => {})
      await database.stop()
    },
    async start() {
      database = await begin()
      pool = connect()
    },
    async [Symbol.asyncDispose]() {
      if (!pool.ended) await pool.end()
      await database.stop()
    },
  }
}
