// What an earlier start left running: a server whose host was killed, or children of a killed server. Afterwards one
// server runs that is exactly the one this start would have made, or nothing runs on the cluster, so that no two
// servers ever share it.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Accounts } from './account.ts'
import { type Layout, writePrivate } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import {
  killAll,
  type PidFile,
  type Postmaster,
  readPidFile,
  stopPostmaster,
  watchPostmaster,
} from './postmaster.ts'
import { commandOf, exists, isProcessOf, waitUntilIdle } from './processes.ts'
import { ADMIN_ROLE, PORT } from './settings.ts'
import { removeSocketDir } from './socket.ts'

/** What the next start must know of a server. */
interface ServerState {
  readonly socketDir: string
  readonly fingerprint: string
}

/** Milliseconds for children of a dead server to end: they notice within milliseconds unless busy. */
const CHILDREN_MS = 2_000

/** Written before the server starts. */
export async function rememberServer(layout: Layout, accounts: Accounts, state: ServerState): Promise<void> {
  await writePrivate(layout.state, `${JSON.stringify(state)}\n`, accounts.owner)
}

/**
 * The server to adopt, or null when nothing runs. @throws EmbeddedDatabaseError when something runs that this package
 * may not end.
 */
export async function settleOrphan(
  layout: Layout,
  accounts: Accounts,
  fingerprint: string,
  log: (message: string, fields?: Record<string, unknown>) => void,
): Promise<{ postmaster: Postmaster; socketDir: string } | null> {
  const state = await readState(layout)
  const file = await readPidFile(layout.cluster)
  if (file && (await isProcessOf(layout.cluster, file.pid))) {
    const postmaster = watchPostmaster(layout.cluster, file.pid)
    const same = state?.fingerprint === fingerprint && state.socketDir === file.socketDir
    if (same && (await answers(layout, file.socketDir))) return { postmaster, socketDir: file.socketDir }
    log('stopping the PostgreSQL that an earlier start left running', { pid: file.pid })
    await stopPostmaster(layout.cluster, postmaster, log)
  }
  await endLeftovers(layout, log)
  const stale = await readPidFile(layout.cluster)
  if (stale) await removeStalePidFile(layout, stale)
  if (state) await removeSocketDir(state.socketDir, accounts)
  return null
}

/** Waits for what a dead server left, and ends what does not end by itself. */
export async function endLeftovers(
  layout: Layout,
  log: (message: string, fields?: Record<string, unknown>) => void,
): Promise<void> {
  if (await waitUntilIdle(layout.cluster, CHILDREN_MS)) return
  log('ending what an earlier PostgreSQL left running', { cluster: layout.cluster })
  if (!(await killAll(layout.cluster)))
    throw new EmbeddedDatabaseError(
      `processes of an earlier PostgreSQL on ${layout.cluster} do not end: end them, or restart the machine`,
    )
}

/**
 * A stale file whose process id exists would keep PostgreSQL from starting: the id belongs to another process, or its
 * process was not reaped (containers without an init). One whose id is free could be taken for the next server's in a
 * container. Without the file PostgreSQL still recognises a living predecessor by its shared memory.
 */
async function removeStalePidFile({ host, cluster }: Layout, file: PidFile): Promise<void> {
  const command = exists(file.pid) ? ((await commandOf(file.pid)) ?? '') : ''
  const ours = file.directory === '/proc/self/cwd'
  if (!ours && /(^|\/)postgres\b/.test(command))
    throw new EmbeddedDatabaseError(
      `a PostgreSQL that ${host.words.program} did not start (process ${file.pid}) runs on ${cluster}: stop it first`,
    )
  await rm(join(cluster, 'postmaster.pid'), { force: true })
}

async function answers({ host }: Layout, socketDir: string): Promise<boolean> {
  const client = new Client({
    host: socketDir,
    port: PORT,
    user: ADMIN_ROLE,
    database: host.name,
    connectionTimeoutMillis: 3_000,
    query_timeout: 3_000,
  })
  client.on('error', () => {}) // the query below says so
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

async function readState(layout: Layout): Promise<ServerState | null> {
  let text: string
  try {
    text = await readFile(layout.state, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
  try {
    const found: unknown = JSON.parse(text)
    if (typeof found !== 'object' || found === null) return null
    const { socketDir, fingerprint } = found as Partial<Record<keyof ServerState, unknown>>
    return typeof socketDir === 'string' && typeof fingerprint === 'string'
      ? { socketDir, fingerprint }
      : null
  } catch {
    return null
  }
}
