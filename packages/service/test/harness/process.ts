/** The real service as child processes on a data directory of the test's own. Nothing of it outlives the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Pool } from 'pg'
import { newToken } from '../../src/access/token.ts'
import { findEmbedded } from '../../src/db/embedded/index.ts'
import { processesOf } from '../../src/db/embedded/processes.ts'
import { createPool } from '../../src/db/pool.ts'
import { eventually } from './locks.ts'

const main = resolve(import.meta.dirname, '../../../cli/src/main.ts')

export interface ServiceProcess {
  readonly pid: number
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly output: () => string
  readonly running: () => boolean
  /** Sends the signal; the exit code when it has ended, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** The exit code, when it ends by itself. */
  readonly ended: Promise<number | null>
}

export interface Installation extends AsyncDisposable {
  readonly token: string
  readonly dataDir: string
  /** Starts a service: the holder of the embedded database, or one beside it. Resolves when it listens. */
  start(which: 'holder' | 'beside'): Promise<ServiceProcess>
  /** Starts the command line with these arguments, for tests of what comes before listening. */
  spawn(args: readonly string[]): ChildProcess
  postmasterPid(): Promise<number>
  /** A pool on the embedded database that runs now. To be ended by its user. */
  connect(): Promise<Pool>
}

/** `await using installation = await install()`. */
export async function install(): Promise<Installation> {
  const base = await mkdtemp(join(tmpdir(), 'deskwire-crash-'))
  const dataDir = join(base, 'data')
  const cluster = join(dataDir, 'postgres')
  const token = newToken()
  const children: ChildProcess[] = []

  function run(args: readonly string[]): ChildProcess {
    const environment = { PATH: process.env.PATH, DESKWIRE_BOOTSTRAP_KEY: token }
    const child = spawn(process.execPath, [main, ...args], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return child
  }

  async function start(which: 'holder' | 'beside'): Promise<ServiceProcess> {
    const where =
      which === 'holder' ? ['--data-dir', dataDir] : ['--database-url', socketUrl(await connection())]
    return listening(run(['serve', '--port', '0', ...where]))
  }

  async function connection() {
    const found = await findEmbedded(dataDir)
    if (found === null) throw new Error('no database runs')
    return found
  }

  return {
    token,
    dataDir,
    start,
    spawn: run,
    postmasterPid: async () =>
      Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0]),
    connect: async () => createPool(await connection(), { max: 4, onIdleError: () => {} }),
    async [Symbol.asyncDispose]() {
      for (const child of children) if (isRunning(child)) child.kill('SIGKILL')
      await Promise.all(children.map((child) => (isRunning(child) ? once(child, 'exit') : null)))
      // After a test that failed half way the database may still run: ours, on a directory of ours.
      for (const pid of await processesOf(cluster)) kill(pid)
      await eventually('the database has ended', async () => (await processesOf(cluster)).length === 0)
      // Outside of the data directory when root runs this, and removed by a clean stop only.
      const state = await readFile(join(dataDir, 'embedded.json'), 'utf8').catch(() => '{}')
      const { socketDir } = JSON.parse(state) as { socketDir?: string }
      if (socketDir !== undefined) await rm(socketDir, { recursive: true, force: true })
      await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    },
  }
}

/** Ends a process that a test started, if it is still there. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** A URL for a database that listens on a socket alone. */
function socketUrl(at: { host: string; port: number; user: string; database: string }): string {
  return `postgres://${at.user}@/${at.database}?host=${encodeURIComponent(at.host)}&port=${at.port}`
}

async function listening(child: ChildProcess): Promise<ServiceProcess> {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const url = await eventually(
    'the service listens',
    () => {
      if (!isRunning(child)) throw new Error(`it ended before it listened: ${output}`)
      return /listening on (\S+)/.exec(output)?.[1] ?? null
    },
    40_000,
  )
  return {
    pid: child.pid!,
    url,
    output: () => output,
    running: () => isRunning(child),
    ended,
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}
