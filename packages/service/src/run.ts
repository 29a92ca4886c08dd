/** What runs on databases that are open: the schema, the first key, the roles. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { EmbeddedDatabaseError } from '@deskwire/embedded-postgres'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type Config, defaultPort } from './config.ts'
import { createDirectory } from './databases/directory.ts'
import { readDatabaseClock } from './db/clock.ts'
import { explainFailureOf } from './db/failure.ts'
import type { OpenDatabase } from './db/open.ts'
import { PoolerError } from './db/pooler.ts'
import { keysOf } from './delivery/endpoint/vault.ts'
import type { DeliverySettings } from './delivery/model.ts'
import { releaseQueues } from './delivery/queue/leases.ts'
import { exempted } from './delivery/send/address.ts'
import { InstallationError } from './installation.ts'
import type { NotifyWorker } from './journal/notifier.ts'
import type { Telemetry } from './kernel/telemetry.ts'
import type { Clock } from './kernel/timestamps.ts'
import { createMoveFinisher } from './moves/cutover.ts'
import { bootstrapOrganization, type NewKey } from './organization/create.ts'
import { adminOf } from './roles/admin.ts'
import { startApi } from './roles/api.ts'
import { deliverySettingsOf, SettingError } from './roles/delivery-settings.ts'
import type { Running } from './roles/listen.ts'
import { refusedPorts } from './roles/listen.ts'
import { prepare, prepareLater, type ServedDatabase, served } from './roles/prepare.ts'
import { type Supervised, superviseWorker } from './roles/supervise.ts'
import { type RunningWorkers, startWorkers } from './roles/worker.ts'
import { startMetricsServer, startWorkerServer, workerMetrics } from './roles/worker-server.ts'
import type { SummarySettings } from './summarizer/summarizer.ts'
import type { OpenTelemetry } from './telemetry/sdk.ts'

const longestTimer = 2 ** 31 - 1

/** Milliseconds that the database may work on a list with `q`. */
const searchTimeout = 2_000

interface Begun {
  readonly databases: readonly [OpenDatabase, ...OpenDatabase[]]
  /** Resolves with the reason when the process is told to stop. */
  readonly stopped: Promise<string>
  readonly summaries: SummarySettings | null
  readonly log: Logger
  readonly telemetry: OpenTelemetry | null
}

/**
 * Prepares the databases and runs the roles until the process is told to stop, or the database has ended; then closes
 * all.
 */
export async function run(config: Config, begun: Begun): Promise<void> {
  const { databases, stopped, summaries, log, telemetry } = begun
  const [first, ...later] = databases
  let others: Awaited<ReturnType<typeof prepareLater>> | null = null
  try {
    const settings = await deliverySettingsOf(config)
    const preparing = { config, keys: keysOf(settings), log }
    await prepare(first, preparing).catch((error) => refuseFirst(first, error))
    others = await prepareLater(later, log, (database) => prepare(database, preparing))
    const clock = await readDatabaseClock(first.pool)
    const usable = [served(first), ...others.served] as const
    const running = await startRoles(config, {
      databases: usable,
      clock,
      settings,
      summaries,
      log,
      telemetry,
    })
    // In role `worker`, nothing else keeps the process running while the database is unavailable.
    const staying = setInterval(() => {}, longestTimer)
    const ending = await Promise.race([stopped, first.lost.then((how) => new EmbeddedDatabaseError(how))])
    clearInterval(staying)
    log.info({ reason: String(ending) }, 'stopping: finishing what is under way')
    await Promise.all(running.map((role) => role.stop()))
    await telemetry?.close()
    if (ending instanceof EmbeddedDatabaseError) throw ending
    log.info('stopped')
  } finally {
    await others?.stop()
    await Promise.all(databases.map((database) => database.close()))
  }
}

/** The database with the directory must be available. Explains the error with the setting that names it. */
function refuseFirst({ name }: OpenDatabase, error: unknown): never {
  const line = name === null ? null : explainFailureOf(name, error)
  // Not a SettingError: the database may only be unavailable, and be there at the next start.
  if (line === null) throw error
  throw error instanceof PoolerError ? new SettingError(line) : new InstallationError(line, { cause: error })
}

/** Starts the roles of this process; role `all` runs the worker in another process. */
async function startRoles(
  config: Config,
  {
    databases,
    clock,
    settings,
    summaries,
    log,
    telemetry,
  }: {
    databases: readonly [ServedDatabase, ...ServedDatabase[]]
    clock: Clock
    settings: DeliverySettings
    summaries: SummarySettings | null
    log: Logger
    telemetry: Telemetry | null
  },
): Promise<readonly Running[]> {
  if (config.role === 'worker') {
    warnOfTrust(settings, log)
    const workers = startWorkers(databases, { log, settings, summaries, telemetry })
    return [...(await startWorkerAlone(config, workers, databases, log)), ...startFinishing(databases, log)]
  }
  const [{ pool, address, name }, ...others] = databases
  // The first commit must not be ahead of the database's time.
  const made = await makeFirstKey(pool, clock, config)
  if (made !== null) announceFirstKey(made, config)
  warnOfTrust(settings, log)
  let worker: Supervised | null = null
  const otherMetrics = async () => (await worker?.metrics()) ?? []
  const notifyWorkerOf = (index: number): NotifyWorker | null =>
    config.role === 'all' ? (due) => worker?.notify(due, index) ?? null : null
  const api = await startApi(
    { host: config.host, port: config.port ?? defaultPort },
    {
      pool,
      address,
      ...(name === null ? {} : { name }),
      others: others.map((database, n) => ({ ...database, notifyWorker: notifyWorkerOf(n + 1) })),
      log,
      settings,
      telemetry,
      rateLimit: config.rateLimit,
      searchTimeout,
      storage: { rows: config.maxRows, bytes: config.maxBytes },
      otherMetrics,
      degraded: () => worker?.trouble() ?? null,
      notifyWorker: notifyWorkerOf(0),
      publicUrl: config.publicUrl,
      trustedProxies: config.trustedProxies,
      webhookAddresses: config.webhookAddresses,
      corsOrigins: config.corsOrigins,
      consoleFrameAncestors: config.consoleFrameAncestors,
      metricsElsewhere: config.metricsPort !== null,
      mcp: config.mcp !== null,
      mcpIssuer: config.mcp?.issuer ?? null,
      admin: adminOf(config, keysOf(settings), log),
    },
  )
  const metrics = await startMetrics(config, api.metrics, log).catch(async (error) => {
    await api.stop()
    throw error
  })
  if (config.role === 'all')
    worker = superviseWorker({ settings, summaries, logLevel: config.logLevel }, databases, {
      log,
      clock,
      releaseLeases: (workerId) => releaseLeases(databases, workerId),
    })
  const reached = config.publicUrl ?? api.address
  process.stdout.write(
    `listening on ${api.address}\nguides and reference at ${reached}/\nconsole at ${reached}/console\n`,
  )
  const { port } = new URL(reached)
  if (refusedPorts.includes(Number(port)))
    log.warn(
      `browsers and fetch refuse to connect to port ${port}, so the console and most clients cannot reach ${reached}: set ${config.publicUrl === null ? 'DESKWIRE_PORT' : 'DESKWIRE_PUBLIC_URL'} to another`,
    )
  return [...startFinishing(databases, log), api, ...metrics, ...(worker === null ? [] : [worker])]
}

/** With several databases, finishes interrupted moves between them. */
function startFinishing(databases: readonly ServedDatabase[], log: Logger): readonly Running[] {
  const [first] = databases
  if (first?.name == null) return []
  const pools = new Map(databases.map(({ name, pool }) => [name ?? '', pool]))
  const finisher = createMoveFinisher(
    { pools, directory: createDirectory(first.pool, first.name) },
    { log, isReady: (name) => databases.find((one) => one.name === name)?.isReady() === true },
  )
  finisher.start()
  return [finisher]
}

/** Releases all leases of an ended worker and returns their number. @throws when a database is unavailable. */
async function releaseLeases(databases: readonly ServedDatabase[], workerId: string): Promise<number> {
  const usable = databases.filter(({ isReady }) => isReady())
  const given = await Promise.allSettled(
    usable.map(async ({ pool }) => {
      const now = (await readDatabaseClock(pool)).now()
      return releaseQueues(pool, workerId, now)
    }),
  )
  let leases = 0
  for (const each of given) {
    if (each.status === 'rejected') throw each.reason
    leases += each.value
  }
  return leases
}

async function startMetrics(
  { host, metricsPort }: Config,
  metrics: () => Promise<string>,
  log: Logger,
): Promise<readonly Running[]> {
  if (metricsPort === null) return []
  const server = await startMetricsServer({ host, port: metricsPort }, metrics, log)
  process.stdout.write(`metrics on ${server.address}/metrics\n`)
  return [server]
}

/** A worker in role `worker`, with its small servers. */
async function startWorkerAlone(
  config: Config,
  workers: RunningWorkers,
  databases: readonly ServedDatabase[],
  log: Logger,
): Promise<readonly Running[]> {
  const { host, port, metricsPort } = config
  const running: Running[] = [workers]
  try {
    const metrics = workerMetrics(workers)
    running.unshift(...(await startMetrics(config, metrics, log)))
    if (port !== null) {
      const where = { host, port }
      const server = await startWorkerServer(where, databases, metricsPort === null ? metrics : null, log)
      running.unshift(server)
      process.stdout.write(`worker listening on ${server.address}\n`)
    }
  } catch (error) {
    await Promise.all(running.map((role) => role.stop()))
    throw error
  }
  process.stdout.write('delivering\n')
  return running
}

function warnOfTrust({ trustedTargets }: DeliverySettings, log: Logger): void {
  if (exempted(trustedTargets).length === 0) return
  log.warn('receivers may have addresses that are not public: DESKWIRE_TRUSTED_TARGETS is set')
}

/**
 * Creates the first organization and its key, when there is no key yet. Writes the key to its file before the commit,
 * and removes the file when the commit fails. @throws SettingError when the file cannot be written.
 */
async function makeFirstKey(pool: Pool, clock: Clock, config: Config): Promise<NewKey | null> {
  const { bootstrapKey, firstKeyFile } = config
  if (firstKeyFile === null) return bootstrapOrganization(pool, clock, bootstrapKey)
  let file: FileHandle | null = null
  try {
    return await bootstrapOrganization(pool, clock, bootstrapKey, async ({ token }) => {
      file = await open(firstKeyFile, 'wx', 0o600).catch(refuseFirstKeyFile)
      await file.writeFile(`${token}\n`)
      await file.sync()
    })
  } catch (error) {
    if (file !== null) await rm(firstKeyFile, { force: true })
    throw error
  } finally {
    await (file as FileHandle | null)?.close()
  }
}

function refuseFirstKeyFile({ code, message }: NodeJS.ErrnoException): never {
  const why = code === 'EEXIST' ? 'something is there already, which is not overwritten' : message
  throw new SettingError(
    `the first key cannot be written to DESKWIRE_FIRST_KEY_FILE: ${why}; nothing was created. Set it to a file that does not exist yet`,
  )
}

function announceFirstKey(first: { organizationId: string; token: string }, config: Config): void {
  process.stdout.write(`organization ${first.organizationId} was created\n`)
  const { bootstrapKey, firstKeyFile } = config
  const shown =
    firstKeyFile !== null
      ? ` is in ${firstKeyFile}`
      : bootstrapKey !== null
        ? ' is the one in DESKWIRE_BOOTSTRAP_KEY'
        : `, shown this once: ${first.token}`
  process.stdout.write(`its API key${shown}\n`)
}
