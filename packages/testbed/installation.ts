/** The service as child processes on a data directory of the test's own, which ends with the test. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
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
import { kill } from './program.ts'
import { createServices, type Environment, type ServiceProcess, socketUrl } from './services.ts'

export interface DataDir extends AsyncDisposable {
  /** The service creates it, unless it is `installed`. */
  readonly path: string
  /** An existing directory to run in, next to it. */
  readonly parent: string
  /** Process ids of an embedded database on it. */
  running(): Promise<number[]>
}

/** `await using dataDir = await temporaryDataDir()`. `installed`: it has a database with an up-to-date schema. */
export async function temporaryDataDir(options: { readonly installed?: boolean } = {}): Promise<DataDir> {
  const parent = await mkdtemp(join(tmpdir(), 'deskwire-data-'))
  const path = join(parent, 'data')
  // Saves a second for each service that starts there.
  if (options.installed) await promisify(execFile)('cp', ['-Rp', inject('installed'), path])
  const cluster = join(path, 'postgres')
  const running = async () => (existsSync(cluster) ? processesOf(cluster) : [])
  return {
    path,
    parent,
    running,
    async [Symbol.asyncDispose]() {
      // After a failed test the database may still run.
      for (const pid of await running()) kill(pid)
      await eventually('the database has ended', async () => (await running()).length === 0)
      // Outside of the data directory when root runs this; only a clean stop removes it.
      const state = await readFile(join(path, 'embedded.json'), 'utf8').catch(() => '{}')
      const { socketDir } = JSON.parse(state) as { socketDir?: string }
      if (socketDir !== undefined) await rm(socketDir, { recursive: true, force: true })
      await rm(parent, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    },
  }
}

export interface Installation extends AsyncDisposable {
  readonly token: string
  readonly dataDir: string
  /** Starts the process that owns the embedded database, or another one. Resolves when it is ready. */
  start(which: 'holder' | 'beside', role?: 'all' | 'api' | 'worker'): Promise<ServiceProcess>
  postmasterPid(): Promise<number>
  /** A pool on the embedded database; the caller ends it. */
  connect(): Promise<Pool>
}

/** `await using installation = await install()`, with settings for its services. */
export async function install(settings: Environment = {}): Promise<Installation> {
  const directory = await temporaryDataDir({ installed: true })
  const dataDir = directory.path
  const token = newToken()
  const services = createServices()
  // All processes need the same key for sealed secrets.
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
    postmasterPid: async () =>
      Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]),
    connect: async () => createPool(await connection(), { max: 4, onIdleError: () => {} }),
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      await directory[Symbol.asyncDispose]()
    },
  }
}
