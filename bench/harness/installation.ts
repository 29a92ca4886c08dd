/** The service as a child process, on an embedded database in a temporary directory. */
import { mkdtemp, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrganization, systemClock } from '@deskwire/service'
import type { Pool } from 'pg'
import type { EmbeddedConnection } from '../../packages/embedded-postgres/src/index.ts'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { createPool } from '../../packages/service/src/db/pool.ts'
import { ready, socketUrl, startDeskwire } from '../../packages/testbed/services.ts'

export interface Organization {
  readonly organizationId: string
  readonly token: string
}

export interface RunningService {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly pid: number
  /** From the start of the process to "listening on", in milliseconds. */
  readonly startedIn: number
  /** Resident memory of the process without the database, in MB. */
  residentMegabytes(): Promise<number>
  /** Its peak. */
  peakMegabytes(): Promise<number>
  /** Memory of the process and its worker without the database, in MB. Shared memory counts once (PSS). */
  heldMegabytes(): Promise<number>
  stop(): Promise<void>
}

export interface Installation extends AsyncDisposable {
  readonly service: RunningService
  /** For the benchmark's own connections to the database. */
  readonly connection: EmbeddedConnection
  /** For preparing a case. */
  readonly pool: Pool
  newOrganization(): Promise<Organization>
}

/** What an interrupt has to end, newest last. */
const standing = new Set<() => Promise<void>>()

/** Removes everything when a run is interrupted. */
export async function removeAll(): Promise<void> {
  for (const remove of [...standing].reverse()) await remove()
}

/** Also removes it when a run is interrupted; once. */
export function standingUntil(remove: () => Promise<void>): () => Promise<void> {
  const once = async () => {
    await remove()
    standing.delete(once)
  }
  standing.add(once)
  return once
}

/** A directory for a database; stop its services before removing it. */
export async function temporaryDirectory(): Promise<{ dataDir: string; remove: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deskwire-bench-'))
  return { dataDir, remove: standingUntil(() => rm(dataDir, { recursive: true, force: true })) }
}

/** Node's flags for the service, from DESKWIRE_BENCH_NODE: `--cpu-prof --cpu-prof-dir=/tmp/profiles`. */
const nodeFlags = (process.env.DESKWIRE_BENCH_NODE ?? '').split(' ').filter((flag) => flag !== '')

/** Peak memory of a running process, in MB. Rejects for one that has ended. */
export function peakMegabytes(pid: number): Promise<number> {
  return megabytes(pid, 'VmHWM')
}

async function megabytes(pid: number, line: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1]
  // A zombie has a status, and no memory.
  if (kilobytes === undefined) throw new Error(`process ${pid} has ended`)
  return Math.round(Number(kilobytes) / 1024)
}

async function heldMegabytes(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  const own = await readlink(`/proc/${pid}/exe`)
  let kilobytes = 0
  for (const one of [String(pid), ...children]) {
    // The other children are the database's.
    if ((await readlink(`/proc/${one}/exe`).catch(() => '')) !== own) continue
    const rollup = await readFile(`/proc/${one}/smaps_rollup`, 'utf8')
    kilobytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1])
  }
  return Math.round(kilobytes / 1024)
}

/** Starts `deskwire serve` on the data directory, on a free port of the loopback. */
export async function startService(dataDir: string, flags: readonly string[] = []): Promise<RunningService> {
  const since = performance.now()
  const program = startDeskwire(['serve', '--port', '0', ...flags], {
    nodeFlags,
    shown: true,
    settings: {
      NODE_ENV: 'production',
      DESKWIRE_DATA_DIR: dataDir,
      DESKWIRE_LOG_LEVEL: 'warn',
      // Limits are not what is measured.
      DESKWIRE_RATE_LIMIT: '0',
      DESKWIRE_BOOTSTRAP_KEY: newToken(),
    },
  })
  const stop = standingUntil(async () => program[Symbol.asyncDispose]())
  const { url, pid } = await ready(program)
  return {
    url,
    pid,
    startedIn: performance.now() - since,
    residentMegabytes: () => megabytes(pid, 'VmRSS'),
    peakMegabytes: () => peakMegabytes(pid),
    heldMegabytes: () => heldMegabytes(pid),
    stop,
  }
}

/** With one unused organization. `await using` stops and removes it. */
export async function install(flags: readonly string[] = []): Promise<Installation> {
  const { dataDir, remove } = await temporaryDirectory()
  return installIn(dataDir, flags, remove)
}

/** `remove` runs last, for the caller's own resources. */
async function installIn(
  dataDir: string,
  flags: readonly string[],
  remove: () => Promise<void>,
): Promise<Installation> {
  const service = await startService(dataDir, flags)
  const connection = await embedded.find(dataDir)
  if (connection === null) throw new Error(`no database runs on ${dataDir}`)
  const pool = createPool(connection, { max: 4, onIdleError: () => {} })
  return {
    service,
    connection,
    pool,
    newOrganization: () => createOrganization(pool, systemClock, 'Benchmark'),
    async [Symbol.asyncDispose]() {
      await pool.end()
      await service.stop()
      await remove()
    },
  }
}

/** An installation with a receiver that it trusts. */
export interface DeliveringInstallation<R> extends Installation {
  readonly receiver: R
  /** The key of sealed signing secrets. */
  encryptionKey(): Promise<Buffer>
  startWorker(): Promise<RunningService>
}

/** `await using` removes installation and receiver. */
export async function installFor<R extends AsyncDisposable & { caFile: string }>(
  startReceiver: (directory: string) => Promise<R>,
  flags: readonly string[],
): Promise<DeliveringInstallation<R>> {
  const { dataDir, remove } = await temporaryDirectory()
  const receiver = await startReceiver(dataDir)
  const targets = ['--trusted-targets', '127.0.0.0/8', '--target-ca', receiver.caFile]
  const installation = await installIn(dataDir, [...flags, ...targets], async () => {
    await receiver[Symbol.asyncDispose]()
    await remove()
  })
  return {
    ...installation,
    receiver,
    encryptionKey: async () => Buffer.from(await keyText(dataDir), 'base64'),
    async startWorker() {
      const where = ['--database-url', socketUrl(installation.connection)]
      const key = ['--encryption-key', await keyText(dataDir)]
      return startService(dataDir, ['--role', 'worker', ...where, ...key, ...targets])
    },
  }
}

async function keyText(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, 'encryption.key'), 'utf8')).trim()
}
