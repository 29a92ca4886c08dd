/** The real service as child processes on a data directory of the test's own. Nothing of it outlives the test. */
import { type ChildProcess, execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { inject } from 'vitest'
import { processesOf } from '../embedded-postgres/src/processes.ts'
import { newToken } from '../service/src/auth/token.ts'
import { embedded } from '../service/src/db/embedded.ts'
import { createPool } from '../service/src/db/pool.ts'
import { eventually } from './eventually.ts'
import { createServices, type Environment, kill, type ServiceProcess, socketUrl } from './services.ts'

export interface Installation extends AsyncDisposable {
  readonly token: string
  readonly dataDir: string
  /** Starts a service: the holder of the embedded database, or one beside it. Resolves when it is ready. */
  start(which: 'holder' | 'beside', role?: 'all' | 'api' | 'worker'): Promise<ServiceProcess>
  /** Starts the command line with these arguments, for tests of what comes before listening. */
  spawn(args: readonly string[]): ChildProcess
  postmasterPid(): Promise<number>
  /** A pool on the embedded database that runs now. To be ended by its user. */
  connect(): Promise<Pool>
}

/** Where there is nothing yet, puts a data directory whose schema is up to date: a second less for each that starts there. */
export async function copyInstalled(dataDir: string): Promise<void> {
  await promisify(execFile)('cp', ['-Rp', inject('installed'), dataDir])
}

/** `await using installation = await install()`, with settings for its services. */
export async function install(settings: Environment = {}): Promise<Installation> {
  const base = await mkdtemp(join(tmpdir(), 'deskwire-crash-'))
  const dataDir = join(base, 'data')
  const cluster = join(dataDir, 'postgres')
  const token = newToken()
  const services = createServices()
  await copyInstalled(dataDir)
  // One beside a database needs a key, and the holder the same: secrets are sealed by the one and opened by the other.
  const environment = {
    DESKWIRE_BOOTSTRAP_KEY: token,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...settings,
  }

  async function start(which: 'holder' | 'beside', role = 'all'): Promise<ServiceProcess> {
    const where =
      which === 'holder' ? ['--data-dir', dataDir] : ['--database-url', socketUrl(await connection())]
    return services.serve(['--role', role, ...where], environment)
  }

  async function connection() {
    const found = await embedded.find(dataDir)
    if (found === null) throw new Error('no database runs')
    return found
  }

  return {
    token,
    dataDir,
    start,
    spawn: (args) => services.spawn(args, environment),
    postmasterPid: async () =>
      Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0]),
    connect: async () => createPool(await connection(), { max: 4, onIdleError: () => {} }),
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
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
