import { findEmbedded, hasEmbeddedDatabase } from './find.ts'
import { type Host, nameHost } from './host.ts'
import { type Replacement, startReplacement } from './replace.ts'
import { type EmbeddedConnection, type EmbeddedDatabase, type EmbeddedLog, startEmbedded } from './start.ts'

export interface Launcher {
  /**
   * Starts the server on a data directory, creating both as needed. Resolves when it accepts connections: within a
   * second, later the first time and after a crash. Only the account of this process can connect, through a private
   * socket, without a password. @throws EmbeddedDatabaseError when it cannot run here or another process runs this
   * data directory. `onBegun` is called once one of PostgreSQL's programs has been started: from then on the start
   * waits for it.
   */
  start(options: {
    readonly dataDir: string
    readonly log?: EmbeddedLog
    readonly onBegun?: (() => void) | undefined
  }): Promise<EmbeddedDatabase>
  /**
   * The connection of the server that runs on a data directory now, waiting up to 30 s if it is starting; null when
   * none runs. For programs beside the one that started it, under the same account. @throws EmbeddedDatabaseError
   */
  find(dataDir: string): Promise<EmbeddedConnection | null>
  /** Whether a data directory has a database in it, running or not. */
  has(dataDir: string): boolean
  /**
   * Starts a server on a new cluster that can replace the data directory's database: for a restore. @throws
   * EmbeddedDatabaseError when the data directory is in use, or holds a database and `replace` is not set.
   */
  startReplacement(options: {
    readonly dataDir: string
    readonly replace: boolean
    readonly log?: EmbeddedLog
  }): Promise<Replacement>
}

/** @throws RangeError for a name that cannot be a database's. */
export function createLauncher(host: Host): Launcher {
  const named = nameHost(host)
  const silent: EmbeddedLog = () => {}
  return {
    start: ({ log = silent, ...options }) => startEmbedded(named, { ...options, log }),
    find: (dataDir) => findEmbedded(named, dataDir),
    has: hasEmbeddedDatabase,
    startReplacement: ({ log = silent, ...options }) => startReplacement(named, { ...options, log }),
  }
}
