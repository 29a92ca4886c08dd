// Starts the embedded database: hold, account, programs, cluster, what an earlier start left, server. Whoever gets an
// EmbeddedDatabase is the only one to run that data directory; a failed start leaves nothing running that was not
// running before.
import { type Accounts, chooseAccounts } from './account.ts'
import { type Binaries, findBinaries, requireBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { type Layout, prepareDataDir, refuseHalfRestored, writePrivate } from './datadir.ts'
import { EmbeddedDatabaseError } from './error.ts'
import { takeHold } from './hold.ts'
import type { NamedHost } from './host.ts'
import { endLeftovers, rememberServer, settleOrphan } from './orphan.ts'
import {
  lastWords,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
  waitForLogger,
  waitUntilReady,
} from './postmaster.ts'
import { forgetServerVariables, remedyFor } from './program.ts'
import { fingerprint, PORT, type ServerFiles, serverFiles } from './settings.ts'
import { makeSocketDir, removeSocketDir } from './socket.ts'

/** Connection settings that `pg` accepts. */
export interface EmbeddedConnection {
  /** The private socket directory. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

/** A running embedded database, held by this process. */
export interface EmbeddedDatabase {
  readonly connection: EmbeddedConnection
  /** The data directory's real path. */
  readonly dataDir: string
  /** Whether the server was already running, left by a process that was killed. */
  readonly adopted: boolean
  /** Stops the server cleanly and releases the hold; further calls return the same promise. */
  stop(): Promise<void>
  /**
   * Resolves, with one line for the log, when the server ended though `stop` was not called. Call `stop` to release
   * the hold.
   */
  readonly lost: Promise<string>
}

export type EmbeddedLog = (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void

/** Implements `Launcher.start`. */
export async function startEmbedded(
  host: NamedHost,
  options: {
    readonly dataDir: string
    readonly log: EmbeddedLog
    readonly onBegun?: (() => void) | undefined
  },
): Promise<EmbeddedDatabase> {
  const { log, onBegun = () => {} } = options
  const warn = (message: string, fields?: Record<string, unknown>) => log('warn', message, fields)
  forgetServerVariables()
  requireBinaries(host)
  const layout = await prepareDataDir(host, options.dataDir, warn)
  const accounts = await chooseAccounts(layout)
  const hold = await takeHold(layout, accounts)
  try {
    refuseHalfRestored(layout)
    const running = await run(layout, accounts, log, onBegun)
    const { postmaster, socketDir, adopted } = running
    let stopped: Promise<void> | null = null
    const stop = async () => {
      await stopPostmaster(layout.cluster, postmaster, warn)
      await removeSocketDir(socketDir, accounts)
      await hold.release()
    }
    return {
      connection: connectionTo(host, socketDir),
      dataDir: layout.dataDir,
      adopted,
      stop: () => {
        stopped ??= stop()
        return stopped
      },
      lost: new Promise((resolve) => {
        postmaster.ended.then(async (how) => {
          if (stopped !== null) return
          // The process that writes the log ends shortly after the server.
          await waitForLogger(layout.cluster)
          resolve(`PostgreSQL ${how}: ${await lastWords(layout).catch(() => 'its log cannot be read')}`)
        })
      }),
    }
  } catch (error) {
    await hold.release()
    throw error
  }
}

export function connectionTo({ name }: NamedHost, socketDir: string): EmbeddedConnection {
  return { host: socketDir, port: PORT, user: name, database: name }
}

async function run(
  layout: Layout,
  accounts: Accounts,
  log: EmbeddedLog,
  onBegun: () => void,
): Promise<{ postmaster: Postmaster; socketDir: string; adopted: boolean }> {
  const since = performance.now()
  const binaries = await findBinaries(layout, accounts)
  const created = await ensureCluster(layout, accounts, binaries, onBegun)
  const files = serverFiles(layout.host, accounts.accountName)
  const print = fingerprint(files, binaries.postgres, binaries.version)
  const found = await settleOrphan(layout, accounts, print, (message, fields) => log('warn', message, fields))
  if (found) {
    log('info', 'adopted the PostgreSQL that an earlier start left running', { pid: found.postmaster.pid })
    return { ...found, adopted: true }
  }
  await writeFiles(layout, accounts, files)
  const socketDir = await makeSocketDir(layout, accounts)
  try {
    await rememberServer(layout, accounts, { socketDir, fingerprint: print })
    const postmaster = await start(layout, accounts, binaries, socketDir, log, onBegun)
    const ms = Math.round(performance.now() - since)
    log('info', 'PostgreSQL is ready', { pid: postmaster.pid, version: binaries.version, created, ms })
    return { postmaster, socketDir, adopted: false }
  } catch (error) {
    await removeSocketDir(socketDir, accounts)
    throw error
  }
}

async function start(
  layout: Layout,
  accounts: Accounts,
  binaries: Binaries,
  socketDir: string,
  log: EmbeddedLog,
  onBegun: () => void,
): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    const postmaster = await startPostmaster(layout, accounts, binaries, socketDir)
    onBegun()
    const outcome = await waitUntilReady(layout, postmaster, (seconds) =>
      log('warn', 'PostgreSQL is still recovering', { seconds, pid: postmaster.pid }),
    ).catch(async (error: unknown) => {
      await stopPostmaster(layout.cluster, postmaster, (message) => log('warn', message))
      throw error
    })
    if (outcome.ready) return postmaster
    // PostgreSQL itself saw a process of its predecessor that we did not.
    if (attempt === 5 || !/shared memory block/.test(outcome.reason)) {
      const remedy = remedyFor(outcome.reason)
      throw new EmbeddedDatabaseError(
        `PostgreSQL did not start on ${layout.cluster}: ${outcome.reason}${remedy === null ? '' : `: ${remedy}`}; its log is in ${layout.cluster}/log and ${layout.startLog}`,
      )
    }
    await endLeftovers(layout, (message, fields) => log('warn', message, fields))
  }
}

async function writeFiles(layout: Layout, accounts: Accounts, files: ServerFiles): Promise<void> {
  const write = ([name, text]: readonly [string, string]) =>
    writePrivate(`${layout.cluster}/${name}`, text, accounts.server)
  await Promise.all(Object.entries(files).map(write))
}
