// One running server process, started by this process or found. Watching it keeps no event loop alive.
import type { ChildProcess } from 'node:child_process'
import { open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Accounts } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { Layout } from './datadir.ts'
import { hasCode } from './error.ts'
import { isProcessOf, markArgument, processesOf, signal, waitUntilIdle } from './processes.ts'
import { lastComplaint, startProgram, workingDirectory } from './program.ts'

export interface Postmaster {
  readonly pid: number
  /** Whether its process id is still its own, so that a signal reaches no other. */
  alive(): Promise<boolean>
  /** Resolves with how it ended. */
  readonly ended: Promise<string>
}

/** What a server writes about itself in its cluster. */
export interface PidFile {
  readonly pid: number
  readonly directory: string
  readonly port: number
  readonly socketDir: string
  readonly ready: boolean
}

/** Milliseconds for a clean shutdown, and then for an immediate one. */
const FAST_SHUTDOWN_MS = 60_000
const IMMEDIATE_SHUTDOWN_MS = 10_000

/** Starts a server; it is not ready yet. @throws EmbeddedDatabaseError when the program cannot be run. */
export async function startPostmaster(
  layout: Layout,
  accounts: Accounts,
  binaries: Binaries,
  socketDir: string,
): Promise<Postmaster> {
  // Until the server opens its own log it writes here, not to the host's output, which it would keep open.
  await rm(layout.startLog, { force: true })
  const log = await open(layout.startLog, 'wx', 0o600)
  try {
    if (accounts.switches) await log.chown(accounts.owner.uid, accounts.owner.gid)
    const child = await startProgram(
      binaries.postgres,
      ['-D', workingDirectory(layout.cluster), '-k', socketDir, '-c', await markArgument(layout.cluster)],
      {
        cwd: layout.cluster,
        accounts,
        host: layout.host,
        // A session of its own: the terminal's Ctrl-C goes to the host, which stops the server when it has finished
        // with it.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      },
    )
    const ended = exitOf(child)
    child.unref()
    // Until its end was reported, the kernel keeps a child's process id for it.
    const alive = async () => child.exitCode === null && child.signalCode === null
    return { pid: child.pid!, alive, ended }
  } finally {
    await log.close()
  }
}

/** Watches a server that some other process started. */
export function watchPostmaster(cluster: string, pid: number): Postmaster {
  // A cluster that was removed has no server.
  const alive = () => isProcessOf(cluster, pid).catch(() => false)
  const ended = (async () => {
    // It is no child of this process, so its end is found by polling.
    while (await alive()) await delay(200, undefined, { ref: false })
    return 'ended'
  })()
  return { pid, alive, ended }
}

/** Resolves when the server accepts connections, or with why it will not. Recovery after a crash may take minutes. */
export async function waitUntilReady(
  layout: Layout,
  postmaster: Postmaster,
  onWait: (seconds: number) => void,
): Promise<{ ready: true } | { ready: false; reason: string }> {
  const since = performance.now()
  let ended: string | null = null
  postmaster.ended.then((how) => {
    ended = how
  })
  for (let next = 10; ; ) {
    const file = await readPidFile(layout.cluster)
    if (file?.pid === postmaster.pid && file.ready) return { ready: true }
    if (ended !== null) return { ready: false, reason: `${await lastWords(layout)} (${ended})` }
    const seconds = (performance.now() - since) / 1000
    if (seconds > next) {
      onWait(next)
      next += 10
    }
    await delay(10)
  }
}

/** Ends a server cleanly or, if that takes too long, at once; its log is then replayed at the next start. */
export async function stopPostmaster(
  cluster: string,
  postmaster: Postmaster,
  warn: (message: string) => void,
): Promise<void> {
  if (!(await postmaster.alive())) return
  signal(postmaster.pid, 'SIGINT')
  if (await within(postmaster.ended, FAST_SHUTDOWN_MS)) return waitForLogger(cluster)
  warn('PostgreSQL did not stop in time and is stopped without a checkpoint')
  signal(postmaster.pid, 'SIGQUIT')
  if (await within(postmaster.ended, IMMEDIATE_SHUTDOWN_MS)) return waitForLogger(cluster)
  await killAll(cluster)
}

/** The process that writes the log ends shortly after the server. */
export async function waitForLogger(cluster: string): Promise<void> {
  try {
    await waitUntilIdle(cluster, 5_000)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error // the cluster was removed
  }
}

/** Ends everything that runs on a cluster by force. */
export async function killAll(cluster: string): Promise<boolean> {
  for (const pid of await processesOf(cluster)) signal(pid, 'SIGKILL')
  return waitUntilIdle(cluster, 5_000)
}

/** What a server wrote about itself; null when there is nothing or it is being written. */
export async function readPidFile(cluster: string): Promise<PidFile | null> {
  let text: string
  try {
    text = await readFile(join(cluster, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
  const [pid = '', directory = '', , port = '', socketDir = '', , , status = ''] = text.split('\n')
  if (!/^\d+$/.test(pid)) return null
  return { pid: Number(pid), directory, port: Number(port), socketDir, ready: status.trim() === 'ready' }
}

/** The last complaint of a server, in its own log or before it opened that. */
export async function lastWords(layout: Layout): Promise<string> {
  const directory = join(layout.cluster, 'log')
  const files = await Promise.all(
    (await readdir(directory).catch(() => [])).map(async (name) => {
      const path = join(directory, name)
      return { path, at: (await stat(path)).mtimeMs }
    }),
  )
  const newest = files.sort((a, b) => b.at - a.at)[0]
  const before = await readTail(layout.startLog)
  const handedOver = before.includes('redirecting log output')
  const text = handedOver && newest ? await readTail(newest.path) : before
  return lastComplaint(text) ?? 'PostgreSQL said nothing'
}

async function readTail(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const length = Math.min(size, 8_192)
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.toString()
  } finally {
    await file.close()
  }
}

async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false)
  const done = await Promise.race([promise.then(() => true), late])
  timer.abort()
  return done
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, name) => resolve(name ? `ended by ${name}` : `ended with status ${code}`))
  })
}
