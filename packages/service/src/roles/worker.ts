/** The worker as a running part: an engine that is woken by notifications, and beside it summarizer, backfill and recount. */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { followDatabaseClock } from '../db/clock.ts'
import { type Database, FairPool } from '../db/fair-pool.ts'
import { listen } from '../db/listen.ts'
import type { LocalSettings } from '../db/local-settings.ts'
import { createPool, type DatabaseAddress, directAddress, endPool } from '../db/pool.ts'
import { BacklogPace } from '../delivery/backlog-pace.ts'
import type { DrainServices } from '../delivery/drain.ts'
import { createEndpointQueues } from '../delivery/endpoint-queues.ts'
import { createEngine, type Engine } from '../delivery/engine.ts'
import { createFanOuts, type FanOuts } from '../delivery/fan-outs.ts'
import { claimsOf } from '../delivery/hand-over.ts'
import {
  attemptsOf,
  type DeliveryObserver,
  type DeliverySettings,
  nobodyObserves,
  priorityClasses,
} from '../delivery/model.ts'
import { createRecoverer, createRecoveries, type Recoverer } from '../delivery/recoveries.ts'
import { createRegistrants, type Registrants } from '../delivery/registrants.ts'
import { createSender } from '../delivery/send/send.ts'
import { createSigner } from '../delivery/signer.ts'
import { createResolver } from '../delivery/target/resolver.ts'
import { kinds } from '../desk/index.ts'
import { maxClockSkew } from '../journal/clock-skew.ts'
import { createContentRecount } from '../journal/content-recount.ts'
import { type DueDeliveries, decodeDeliveries, deliveriesChannel, largeCommit } from '../journal/notifier.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import { atMost } from '../kernel/periodic.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { createBackfillOf } from '../kinds/backfill.ts'
import type { Kind } from '../kinds/kind.ts'
import { createDeliveryMetrics } from '../metrics/delivery.ts'
import { createRegistry } from '../metrics/registry.ts'
import { createJobs } from '../summarizer/jobs.ts'
import type { SummarySettings } from '../summarizer/summarizer.ts'
import { createOpener, keysOf } from '../webhooks/vault.ts'
import { tuneHeap } from './heap-tuning.ts'
import type { Running } from './running.ts'
import { superviseSummarizer } from './supervise-thread.ts'

/** Connections of a worker: its statements are few and large. */
const connections = 5
/** And those for endpoints that are slow or have a backlog: however many statements they ask for, no others wait for these. */
const otherConnections = 4

/**
 * And those of the backfill and the recount, opened when there is something to upgrade or to count: what is part of the stream
 * must not be lost with the machine.
 */
const backfillConnections = 4

/** Settings of a worker's connections. */
export const poolSettings = {
  // What a worker notes may be lost with the machine: then a delivery goes out again, as at least once allows.
  synchronous_commit: 'off',
  // Every statement finds its rows by an index, whatever the values: planned again for them, which PostgreSQL takes to
  // be cheaper, a claim spends a third of its time on that.
  plan_cache_mode: 'force_generic_plan',
}

/** What waits for a database that does not answer is left after this, in milliseconds: a worker ends within 15 s. */
const stopMilliseconds = 14_000

export interface RunningWorker extends Running {
  readonly pool: Pool
  /** The database's. */
  readonly clock: Clock
  /** Resolves when it delivers, and takes what commits hand over to it. Never rejects. */
  readonly ready: Promise<void>
  /** Drains what a commit has handed over to it, and what it says is due elsewhere. */
  take(due: DueDeliveries): void
  /** The worker's figures, and its process's. */
  readonly register: ReturnType<typeof createRegistry>
}

/** Delivers and summarizes until stopped; attempts under way are finished and completed, and leases given back. */
export function startWorker(options: {
  readonly address: DatabaseAddress
  readonly log: Logger
  readonly settings: DeliverySettings
  /** Null where nobody is to write summaries. */
  readonly summaries: SummarySettings | null
  /** The owner of its leases; one of its own unless told. */
  readonly workerId?: string
}): RunningWorker {
  const { address, log, settings, summaries, workerId = randomUUID() } = options
  // Of the whole process: a worker has one of its own.
  const heapTuning = tuneHeap()
  const openPool = (max: number, settings: LocalSettings = poolSettings, to = address) =>
    createPool(to, {
      max,
      settings,
      onIdleError: (error) => log.warn({ reason: error.message }, 'an idle database connection broke'),
    })
  const pool = openPool(connections)
  const otherPool = openPool(otherConnections)
  // Each holds a lock of the session for as long as it works.
  const backfillPool = openPool(backfillConnections, {}, directAddress(address))
  const register = createRegistry('worker')
  const observer = createDeliveryMetrics(register, () => worker.engine.inFlight)
  const clock = followDatabaseClock(pool)
  const worker = createWorker({ pool, clock, log, kinds, settings, observer, otherPool, workerId })
  const backfill = createBackfillOf({ pool: backfillPool, clock, log, kinds, maxClockSkew })
  const recount = createContentRecount({ pool: backfillPool, tables: kinds.map(({ table }) => table), log })
  const listener = listen(
    address,
    deliveriesChannel,
    (said) => {
      if (said === largeCommit) worker.fanOuts.wake()
      const { at, told } = decodeDeliveries(said)
      if (told !== workerId) worker.engine.wake(at)
    },
    (error) => log.warn({ reason: error.message }, 'notifications are lost for now; polling goes on'),
  )
  let stopping = false
  // A worker that is an hour ahead would take every endpoint's queue from its holder.
  const ready = clock.ready.then(() => {
    if (stopping) return
    worker.engine.start()
    worker.registrants.start()
    worker.recoverer.start()
    worker.fanOuts.start()
    backfill.start()
    recount.start()
  })
  const maxAttempts = attemptsOf(settings.schedule)
  const jobs = createJobs(pool)
  const summarizer =
    summaries === null
      ? null
      : superviseSummarizer({ address, summaries, maxAttempts, workerId }, log, {
          isNeeded: () => jobs.isNeeded(),
          giveBack: () => jobs.giveBackAllOf(workerId, clock.now()),
        })
  return {
    pool,
    clock,
    register,
    ready,
    take(due) {
      worker.engine.take(claimsOf(due))
      const queues = due.queues.map(({ tier, ...queue }) => ({
        ...queue,
        priority: priorityClasses[tier] ?? 'light',
      }))
      worker.engine.drain(queues, due.at)
    },
    async stop() {
      stopping = true
      clock.stop()
      // At once: while a connection is being closed, nothing more may be begun.
      await atMost(
        stopMilliseconds,
        Promise.all([listener.close(), worker.close(), backfill.stop(), recount.stop(), summarizer?.stop()]),
      )
      await Promise.all([pool, otherPool, backfillPool].map((each) => endPool(each)))
      heapTuning[Symbol.dispose]()
    },
  }
}

export interface Worker {
  readonly engine: Engine
  readonly recoverer: Recoverer
  /** Makes what large commits have left to be made. */
  readonly fanOuts: FanOuts
  /** Disables what keys that have expired had registered. */
  readonly registrants: Registrants
  close(): Promise<void>
}

/**
 * An engine with everything that it sends with, a recoverer, and what makes what large commits have left. They do nothing
 * until they are started or told to.
 */
export function createWorker(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  readonly settings: DeliverySettings
  readonly observer?: DeliveryObserver
  /** Connections for large commits and the drains of all but the light, who are not to wait behind them; by default the same. */
  readonly otherPool?: Pool
  /** The owner of its leases; one of its own unless told. */
  readonly workerId?: string
}): Worker {
  const { pool, clock, log, kinds, settings, observer = nobodyObserves, otherPool = pool } = options
  const { dnsServers, trustedTargets, targetCa, schedule } = settings
  const resolver = createResolver({ servers: dnsServers, trusted: trustedTargets, clock })
  const sender = createSender({ resolver, clock, targetCa, answerTimeoutMs: schedule.answerTimeout })
  const signer = createSigner(createOpener(keysOf(settings)))
  const scopes = new Map(kinds.map((kind) => [kind.name, `${kind.plural}:read`]))
  const tables = kinds.map((kind) => kind.table)
  const database = sharedByOrganizations(pool)
  const otherDatabase = sharedByOrganizations(otherPool)
  const drains: Omit<DrainServices, 'tuning'> = {
    queues: createEndpointQueues(database, tables),
    send: (request) => sender.send(request),
    signerOf: (claim) => signer(claim.endpoint, claim),
    scopeOf: (subjectKind) => scopes.get(subjectKind) ?? null,
    clock,
    schedule,
    log,
    observer,
  }
  const clockTurns = createKeyedQueue()
  const backlogs = new BacklogPace()
  const engine = createEngine(drains, {
    clockTurns,
    backlogs,
    otherQueues: createEndpointQueues(otherDatabase, tables),
    ...(options.workerId === undefined ? {} : { workerId: options.workerId }),
  })
  const registrants = createRegistrants({ pool, clock, log, observer, clockTurns, wake: () => engine.wake() })
  const recoverer = createRecoverer({
    recoveries: createRecoveries(pool, attemptsOf(schedule)),
    clock,
    log,
    clockTurns,
    onDeliveries: () => engine.wake(),
  })
  const fanOuts = createFanOuts({
    database: otherDatabase,
    clock,
    log,
    backlogs,
    onDeliveries: () => engine.wake(),
  })
  return {
    engine,
    recoverer,
    fanOuts,
    registrants,
    async close() {
      await Promise.all([recoverer.stop(), fanOuts.stop(), registrants.stop(), engine.stop()])
      sender.close()
      resolver.close()
    },
  }
}

/**
 * A worker's connections, one of them left for what belongs to no drain: an organization with fifty endpoints that are flooded waits for its
 * own statements, and nobody else for them. Nothing that waits here is given up: what a completion writes has been sent.
 */
function sharedByOrganizations(pool: Pool): Database {
  const places = Math.max(2, pool.options.max - 1)
  const limits = { places, longPlaces: 2, commonPlaces: 2, waitAtMost: Number.POSITIVE_INFINITY }
  return new FairPool(pool, { waited: () => {} }, limits)
}
