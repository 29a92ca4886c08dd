/** Starts the worker: the delivery engine, woken by notifications, with summarizer and backfill. */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { FairQueueLimits } from '../admission/fair-queue.ts'
import type { LocalSettings } from '../db/client.ts'
import { followDatabaseClock } from '../db/clock.ts'
import { type Database, FairPool } from '../db/fair-pool.ts'
import { listen } from '../db/listen.ts'
import { observePools, observeStatements, type StatementObserver } from '../db/observe-statements.ts'
import { reportTo } from '../db/open.ts'
import { createPool, type DatabaseAddress, directAddress, endPool } from '../db/pool.ts'
import { endpointScope } from '../delivery/endpoint/event-types.ts'
import { createReports } from '../delivery/endpoint/report-endpoints.ts'
import { signingKeysOf } from '../delivery/endpoint/signing-keys-route.ts'
import { createOpener, keysOf } from '../delivery/endpoint/vault.ts'
import {
  attemptsOf,
  type DeliveryObserver,
  type DeliverySettings,
  nobodyObserves,
  priorities,
} from '../delivery/model.ts'
import { ConcurrencyLimiter } from '../delivery/queue/concurrency.ts'
import { createDeliveryJobs } from '../delivery/queue/delivery-jobs.ts'
import type { DrainServices } from '../delivery/queue/drain.ts'
import { createEndpointQueues } from '../delivery/queue/endpoint-queues.ts'
import { createEngine } from '../delivery/queue/engine.ts'
import { createRegistrants } from '../delivery/queue/registrants.ts'
import { createSigner } from '../delivery/queue/signer.ts'
import { observeAttempts, traceAttempts } from '../delivery/queue/trace-attempts.ts'
import { createResolver } from '../delivery/send/resolver.ts'
import { createSender } from '../delivery/send/send.ts'
import { kinds } from '../desk/index.ts'
import { maxClockSkew } from '../journal/commit-protocol.ts'
import { type DueQueues, decodeDeliveries, deliveriesChannel, largeCommit } from '../journal/notifier.ts'
import { atMost } from '../kernel/periodic.ts'
import { createKeyedQueue } from '../kernel/shared-work.ts'
import type { Telemetry } from '../kernel/telemetry.ts'
import { type Clock, systemClock } from '../kernel/timestamps.ts'
import { createBackfill } from '../kinds/model/backfill.ts'
import type { Kind } from '../kinds/model/kind.ts'
import { createConnectionMetrics, createDeliveryMetrics, showInFlight } from '../metrics/database.ts'
import { createRegistry } from '../metrics/registry.ts'
import { schemaOf } from '../schema.ts'
import { createSummarizer, type SummarySettings } from '../summarizer/summarizer.ts'
import { createSummaryWriter, type SummaryWriter } from '../summarizer/writer.ts'
import { tuneHeap } from './heap-tuning.ts'
import type { Running } from './listen.ts'
import type { ServedDatabase } from './prepare.ts'

/** Its statements are few and large. */
const connections = 5
/** For unproven and unresponsive endpoints, so that responsive ones never wait for these. */
const otherConnections = 4

/** For summaries and the upgrade of rows. Their commits must be durable, as they are part of the stream. */
const writingConnections = 4

export const poolSettings = {
  // A crash may lose results: then the delivery is sent again, which at-least-once allows.
  synchronous_commit: 'off',
  // Every statement uses an index for any values. With custom plans, planning would take a third of the time of a
  // claim.
  plan_cache_mode: 'force_generic_plan',
  // The order of an index is what a claim is about. The planner counts no dead entries: while a snapshot is held it
  // would read all of another index, which is full of them, and sort the few rows that it expects.
  enable_bitmapscan: 'off',
  enable_sort: 'off',
}

/** Milliseconds that a stop waits for an unavailable database: a worker stops within 15 s. */
const stopMilliseconds = 14_000

function createSending(settings: DeliverySettings, clock: Clock) {
  const { dnsServers, trustedTargets, targetCa, egressProxy, schedule } = settings
  const resolver = createResolver({ servers: dnsServers, trusted: trustedTargets, clock })
  const sender = createSender({
    resolver,
    clock,
    targetCa,
    egressProxy,
    answerTimeoutMs: schedule.answerTimeout,
  })
  return {
    limiter: new ConcurrencyLimiter(),
    sender,
    [Symbol.dispose]() {
      sender.close()
      resolver.close()
    },
  }
}

interface WorkerOptions {
  readonly log: Logger
  readonly settings: DeliverySettings
  /** Null: no summaries. */
  readonly summaries: SummarySettings | null
  readonly workerId?: string
  readonly telemetry?: Telemetry | null
}

export interface RunningWorkers extends Running {
  /** In the order of the databases; null while a database is not ready. */
  readonly each: readonly (RunningWorker | null)[]
  /** The metrics of the process, and of each worker. */
  readonly registers: readonly Registry[]
}

/**
 * Delivers and summarizes for each database once it is ready. The workers share only the process and the sender, so an
 * unavailable database does not affect the others. Calls `onReady` with the index of each database that is served.
 */
export function startWorkers(
  databases: readonly Pick<ServedDatabase, 'name' | 'address' | 'ready'>[],
  options: WorkerOptions & { readonly onReady?: (index: number) => void },
): RunningWorkers {
  const { settings, log, summaries, workerId = randomUUID(), onReady = () => {} } = options
  const heapTuning = tuneHeap()
  const sending = createSending(settings, systemClock)
  const register = createRegistry('worker')
  const each: (RunningWorker | null)[] = databases.map(() => null)
  const alone = databases.length === 1
  const registers = [register]
  const started = () => each.flatMap((one) => one ?? [])
  const writer = summaries && createSummaryWriter(summaries.endpoint, systemClock, log)
  showInFlight(register, () => sending.limiter.inUse)
  if (!alone) options.telemetry?.publish(register)
  let stopping = false
  for (const [index, { name, address, ready }] of databases.entries()) {
    void ready.then(() => {
      if (stopping) return
      // With one database, its metrics are those of the process.
      const own = alone ? register : createRegistry('worker', name)
      if (!alone) registers.push(own)
      const worker = startOn({ ...options, address, workerId, name, sending, writer }, own)
      each[index] = worker
      void worker.ready.then(() => onReady(index))
    })
  }
  return {
    each,
    registers,
    async stop() {
      stopping = true
      await Promise.all(started().map((worker) => worker.stop()))
      await Promise.all([...started().map((worker) => worker.end()), writer?.close()])
      sending[Symbol.dispose]()
      heapTuning[Symbol.dispose]()
    },
  }
}

export type RunningWorker = ReturnType<typeof startOn>

/**
 * The worker of one database; `name`: its name among several. `register` has its metrics, and with one database those
 * of the process.
 */
function startOn(
  options: WorkerOptions & {
    readonly address: DatabaseAddress
    readonly workerId: string
    readonly name: string | null
    readonly sending: ReturnType<typeof createSending>
    readonly writer: SummaryWriter | null
  },
  register: Registry,
) {
  const { address, settings, summaries, workerId, name, sending, writer, telemetry = null } = options
  const log = name === null ? options.log : options.log.child({ database: name })
  const openPool = (max: number, settings: LocalSettings = poolSettings, to = address) =>
    createPool(to, { max, settings, onIdleError: reportTo(log) })
  const pool = openPool(connections)
  const otherPool = openPool(otherConnections)
  // The upgrade of rows holds a session lock while it works.
  const writingPool = openPool(writingConnections, {}, directAddress(address))
  const counted = createDeliveryMetrics(register)
  const observer = telemetry === null ? counted : observeAttempts(telemetry, counted)
  const pools = { worker: pool, worker_others: otherPool, worker_writing: writingPool }
  createConnectionMetrics(register, pools)
  if (telemetry !== null) {
    observePools(telemetry, pools)
    telemetry.publish(register)
  }
  const clock = followDatabaseClock(pool)
  const worker = createWorker({
    pool,
    clock,
    log,
    kinds,
    settings,
    observer,
    otherPool,
    workerId,
    telemetry,
    sending,
  })
  const writing = {
    pool: writingPool,
    clock,
    log,
    kinds,
    commitFunction: schemaOf(kinds).commitFunction,
    maxClockSkew,
  }
  const backfill = createBackfill(writing)
  const maxAttempts = attemptsOf(settings.schedule)
  const summarizer =
    summaries && writer && createSummarizer({ ...writing, settings: summaries, writer, maxAttempts })
  const listener = listen(
    address,
    deliveriesChannel,
    (payload) => {
      // It listens again after a reconnect: notifications may have been lost.
      if (payload === '') {
        worker.engine.hears = true
        worker.engine.resume()
      }
      if (payload === largeCommit) worker.deliveryJobs.wake()
      const { at, notified, queues } = decodeDeliveries(payload)
      if (notified === workerId) return
      if (queues === null) worker.engine.wakeAll(at)
      else if (notified === null) drain({ at, queues })
      else {
        // Another worker was notified, and claims those that this one does not hold unless it is busy.
        const [own, others] = [true, false].map((held) =>
          queues.filter(({ worker }) => (worker === workerId) === held),
        )
        drain({ at, queues: own ?? [] })
        if (others?.some(({ worker }) => worker === null)) worker.engine.wake(at)
      }
    },
    (error) => {
      worker.engine.hears = false
      log.warn({ reason: error.message }, 'notifications are lost for now; polling goes on')
    },
  )
  function drain({ at, queues }: DueQueues): void {
    const known = queues.map(({ priority, ...queue }) => ({
      ...queue,
      priority: priorities[priority] ?? 'responsive',
    }))
    worker.engine.drain(known, at)
  }
  let stopping = false
  // Resolves when the worker delivers, and never rejects. With a wrong clock, one an hour ahead would take every queue
  // from its holder.
  const ready = clock.ready.then(() => {
    if (stopping) return
    worker.start()
    backfill.start()
    summarizer?.start()
  })
  return {
    pool,
    clock,
    register,
    ready,
    drain,
    async stop() {
      stopping = true
      clock.stop()
      // Together, because nothing may be started while a connection is being closed.
      const ended = [listener.close(), worker.close(), backfill.stop(), summarizer?.stop()]
      await atMost(stopMilliseconds, Promise.all(ended))
    },
    end: async () => void (await Promise.all([pool, otherPool, writingPool].map((each) => endPool(each)))),
  }
}

/** The delivery engine with its sender, and the jobs. They do nothing until they are started or woken. */
export function createWorker(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  readonly settings: DeliverySettings
  readonly observer?: DeliveryObserver
  /** Connections for large commits and the drains of unproven and unresponsive endpoints. Default: `pool`. */
  readonly otherPool?: Pool
  readonly workerId?: string
  readonly telemetry?: Telemetry | null
  /** Shared with other workers of the process. Default: its own. */
  readonly sending?: ReturnType<typeof createSending>
}) {
  const { pool, clock, log, kinds, settings, observer = nobodyObserves, otherPool = pool } = options
  const { telemetry = null } = options
  const traced = telemetry !== null
  const { schedule } = settings
  const sending = options.sending ?? createSending(settings, clock)
  const { sender } = sending
  const encryptionKeys = keysOf(settings)
  const signer = createSigner(createOpener(encryptionKeys), (organizationId) =>
    signingKeysOf(encryptionKeys, organizationId),
  )
  const scopes = new Map([
    ...kinds.map((kind) => [kind.name, `${kind.plural}:read`] as const),
    ['endpoint', endpointScope] as const,
  ])
  const tables = kinds.map((kind) => kind.table)
  const observe = telemetry === null ? undefined : observeStatements(telemetry)
  const database = sharedByOrganizations(pool, observe)
  const otherDatabase = sharedByOrganizations(otherPool, observe)
  const drains: DrainServices = {
    queues: createEndpointQueues(database, tables, { traced }),
    send: (request) => sender.send(request),
    signerOf: (claim) => signer(claim.endpoint, claim),
    scopeOf: (subjectKind) => scopes.get(subjectKind) ?? null,
    clock,
    schedule,
    random: Math.random,
    log,
    observer,
    trace: telemetry === null ? null : traceAttempts(telemetry),
    onHealth: () => reports.wake(),
  }
  const exclusiveTasks = createKeyedQueue()
  const engine = createEngine(drains, {
    exclusiveTasks,
    limiter: sending.limiter,
    otherQueues: createEndpointQueues(otherDatabase, tables, { traced }),
    ...(options.workerId === undefined ? {} : { workerId: options.workerId }),
  })
  const services = { clock, log, exclusiveTasks, onDeliveries: () => engine.wake() }
  const registrants = createRegistrants({ ...services, pool, observer })
  const maxAttempts = attemptsOf(schedule)
  const deliveryJobs = createDeliveryJobs({ ...services, database: otherDatabase, tables, maxAttempts })
  const reports = createReports({
    ...services,
    database: otherDatabase,
    tables,
    schedule,
    retention: settings.logRetention,
  })
  const jobs = [deliveryJobs, reports, registrants]
  return {
    engine,
    deliveryJobs,
    start(): void {
      engine.start()
      for (const job of jobs) job.start()
    },
    async close(): Promise<void> {
      await Promise.all([...jobs.map((job) => job.stop()), engine.stop()])
      if (options.sending === undefined) sending[Symbol.dispose]()
    },
  }
}

/**
 * A worker's connections, one of them reserved for statements outside drains: an organization with fifty flooded
 * endpoints waits only for its own statements. Waiting is unlimited, as the result of a sent delivery must be written.
 */
function sharedByOrganizations(pool: Pool, observe: StatementObserver | undefined): Database {
  const limits: Partial<FairQueueLimits> = {
    capacity: Math.max(2, pool.options.max - 1),
    long: 2,
    shared: 2,
    waiting: Number.POSITIVE_INFINITY,
    waitingOfOne: Number.POSITIVE_INFINITY,
    waitAtMost: Number.POSITIVE_INFINITY,
  }
  return new FairPool(pool, { waited: () => {}, observe }, limits)
}
