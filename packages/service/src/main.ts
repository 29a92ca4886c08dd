/** Starting and stopping: the database, the schema, the roles; SIGTERM shuts down. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { bootstrapOrganization, type NewKey } from './access/organizations.ts'
import { type Config, unknownVariables } from './config.ts'
import { askDatabaseClock } from './db/clock.ts'
import { EmbeddedDatabaseError } from './db/embedded/index.ts'
import { migrate } from './db/migrate.ts'
import { type OpenDatabase, openDatabase } from './db/open.ts'
import { giveBackQueues } from './delivery/leases.ts'
import type { DeliverySettings } from './delivery/model.ts'
import { deliveryTuning, leaseOf } from './delivery/tuning.ts'
import type { WorkerBeside } from './journal/notifier.ts'
import { createLog } from './kernel/log.ts'
import type { Telemetry } from './kernel/telemetry.ts'
import type { Clock } from './kernel/timestamps.ts'
import { makeLogWeeks } from './retention/log-weeks.ts'
import { startApi } from './roles/api.ts'
import {
  deliverySettingsOf,
  requireEncryptionKey,
  requireKeyOfDatabase,
  SettingError,
  summarySettingsOf,
} from './roles/delivery-settings.ts'
import type { Running } from './roles/running.ts'
import { type Supervised, superviseWorker } from './roles/supervise.ts'
import { type RunningWorker, startWorker } from './roles/worker.ts'
import { startMetricsServer, startWorkerServer, workerMetrics } from './roles/worker-server.ts'
import { schemaOf } from './schema.ts'
import { createJobs } from './summarizer/jobs.ts'
import type { SummarySettings } from './summarizer/summarizer.ts'
import { openTelemetry, TelemetryError } from './telemetry/open.ts'
import { keysOf } from './webhooks/vault.ts'

/** What a timer counts at most, in milliseconds. */
const longestTimer = 2 ** 31 - 1

/**
 * Runs the service until SIGTERM or SIGINT, and resolves when it has stopped cleanly; throws
 * EmbeddedDatabaseError when it stopped because its database ended. What a person must see,
 * the first key and the address, goes to standard output; the log, in JSON lines, to standard error.
 */
export async function serve(config: Config): Promise<void> {
  const telemetry = await openTelemetry(config.role === 'worker' ? 'worker' : 'api').catch(refuseTelemetry)
  const log = createLog(config.logLevel, telemetry?.logFields)
  telemetry?.reportTo(log)
  for (const { variable, closest } of unknownVariables(process.env)) {
    log.warn(`${variable} is not a setting and has no effect; the most similar setting is ${closest}`)
  }
  requireEncryptionKey(config)
  const summaries = summarySettingsOf(config)
  const stopped = stopSignal()
  const database = await openDatabase(config, log)
  try {
    const applied = await migrate(database.sessions, schemaOf())
    if (applied.length > 0) log.info({ migrations: applied }, 'the schema was brought up to date')
    // Before the first commit: a week that has begun without a partition goes on without one.
    const clock = await askDatabaseClock(database.pool)
    await makeLogWeeks(database.pool, clock.now())
    const settings = await deliverySettingsOf(config)
    await requireKeyOfDatabase(database.pool, config, keysOf(settings))
    const running = await startRoles(config, { database, clock, settings, summaries, log, telemetry })
    // A worker that runs alone has nothing else that keeps its process while the database is away.
    const staying = setInterval(() => {}, longestTimer)
    const ending = await Promise.race([stopped, database.lost.then((how) => new EmbeddedDatabaseError(how))])
    clearInterval(staying)
    log.info({ reason: String(ending) }, 'stopping: finishing what is under way')
    await Promise.all(running.map((role) => role.stop()))
    await telemetry?.close()
    if (ending instanceof EmbeddedDatabaseError) throw ending
    log.info('stopped')
  } finally {
    await database.close()
  }
}

/** The parts of the service that this process runs; role `all` runs the worker in a process of its own beside it. */
async function startRoles(
  config: Config,
  {
    database,
    clock,
    settings,
    summaries,
    log,
    telemetry,
  }: {
    database: OpenDatabase
    /** The database's. */
    clock: Clock
    settings: DeliverySettings
    summaries: SummarySettings | null
    log: Logger
    telemetry: Telemetry | null
  },
): Promise<readonly Running[]> {
  const { pool, address } = database
  if (config.role === 'worker') {
    warnOfTrust(settings, log)
    return await startWorkerAlone(config, startWorker({ address, log, settings, summaries, telemetry }), log)
  }
  // Where a stream begins it may not be ahead either.
  const first = await makeFirstKey(pool, clock, config)
  if (first !== null) announceFirstKey(first, config)
  warnOfTrust(settings, log)
  let worker: Supervised | null = null
  const otherMetrics = async () => (await worker?.metrics()) ?? []
  const api = await startApi(config, {
    pool,
    address,
    log,
    settings,
    telemetry,
    rateLimit: config.rateLimit,
    searchTimeout: config.searchTimeout,
    storage: { rows: config.maxRows, bytes: config.maxBytes },
    otherMetrics,
    degraded: () => worker?.trouble() ?? null,
    ...(config.role === 'all' ? { worker: besideOf(() => worker, settings) } : {}),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    consoleFrameAncestors: config.consoleFrameAncestors,
    metricsElsewhere: config.metricsPort !== null,
  })
  const metrics = await startMetrics(config, api.metrics, log).catch(async (error) => {
    await api.stop()
    throw error
  })
  if (config.role === 'all')
    worker = superviseWorker(
      { address, settings, summaries, logLevel: config.logLevel },
      { log, clock, giveBack: (workerId) => giveBackLeases(pool, workerId) },
    )
  process.stdout.write(`listening on ${api.address}\nguides and reference at ${api.address}/\n`)
  return [api, ...metrics, ...(worker === null ? [] : [worker])]
}

function refuseTelemetry(error: unknown): never {
  throw error instanceof TelemetryError ? new SettingError(error.message) : error
}

/** What the API sees of the worker that is supervised, once it is. */
function besideOf(worker: () => Supervised | null, { schedule }: DeliverySettings): WorkerBeside {
  return {
    get id() {
      return worker()?.takerId ?? null
    },
    leaseFor: leaseOf(schedule, deliveryTuning.leases),
    tell: (due) => worker()?.tell(due) ?? false,
  }
}

/** Everything that a worker held which has died. Answers how many leases that were. */
async function giveBackLeases(pool: Pool, workerId: string): Promise<number> {
  const now = (await askDatabaseClock(pool)).now()
  return (await giveBackQueues(pool, workerId, now)) + (await createJobs(pool).giveBackAllOf(workerId, now))
}

/** The server that DESKWIRE_METRICS_PORT asks for. @throws ListenError when it cannot listen. */
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

/** A worker in a process of its own, with the small servers that it may have. */
async function startWorkerAlone(
  config: Config,
  worker: RunningWorker,
  log: Logger,
): Promise<readonly Running[]> {
  const { host, workerPort, metricsPort } = config
  const running: Running[] = [worker]
  try {
    const metrics = workerMetrics(worker)
    running.unshift(...(await startMetrics(config, metrics, log)))
    if (workerPort !== null) {
      const where = { host, port: workerPort }
      const server = await startWorkerServer(where, worker, metricsPort === null ? metrics : null, log)
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
  if (trustedTargets.ranges.length === 0) return
  log.warn('receivers may have addresses that are not public: DESKWIRE_TRUSTED_TARGETS is set')
}

/**
 * The first organization and its key, when there is no key yet. The key is kept in its file, if it has one, before it is
 * committed; nothing is left of it when the commit fails. @throws SettingError when it cannot be kept.
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

/** Handlers that stay: Ctrl-C under npm arrives twice, and the second would end the process in mid-stop. */
function stopSignal(): Promise<string> {
  return new Promise((settle) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => settle(signal))
  })
}
