/** The worker as a running part: an engine that is woken by notifications, and beside it the summarizer and the backfill. */
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { createBackfillOf } from '../backfills.ts'
import { followDatabaseClock } from '../db/clock.ts'
import { listen } from '../db/listen.ts'
import { createPool, type DatabaseAddress, endPool } from '../db/pool.ts'
import { createWorker, type DeliverySettings } from '../deliveries.ts'
import { attemptsOf } from '../delivery/model.ts'
import { deliveriesChannel, largeCommit } from '../journal/announcer.ts'
import { maxLead } from '../journal/lead.ts'
import type { Clock } from '../kernel/clock.ts'
import { atMost } from '../kernel/periodic.ts'
import { createDeliveryMetrics } from '../metrics/delivery.ts'
import { createRegistry } from '../metrics/registry.ts'
import { kinds } from '../resources/index.ts'
import type { SummarySettings } from '../summaries.ts'
import { createJobs } from '../summarizer/jobs.ts'
import type { Running } from './running.ts'
import { superviseSummarizer } from './supervise-thread.ts'
import { keepHeapSmall } from './thrift.ts'

/** Connections of a worker: its statements are few and large. */
const connections = 5
/** And those for endpoints that are slow or have a backlog: however many statements they ask for, no others wait for these. */
const otherConnections = 4

/** And those of the backfill, opened when there is something to upgrade: what is part of the stream must not be lost with the machine. */
const backfillConnections = 2

/** Settings of a worker's connections. */
export const poolSettings = {
  // What a worker notes may be lost with the machine: then a delivery goes out again, as at least once allows.
  synchronous_commit: 'off',
  // Every statement finds its rows by an index, whatever the values: planned anew for them, which PostgreSQL takes to be
  // cheaper, a claim spends a third of its time on that.
  plan_cache_mode: 'force_generic_plan',
}

/** What waits for a database that does not answer is left after this, in milliseconds: a worker ends within 15 s. */
const stopMilliseconds = 14_000

export interface RunningWorker extends Running {
  readonly pool: Pool
  /** The database's. */
  readonly clock: Clock
  /** The worker's figures, and its process's. */
  readonly register: ReturnType<typeof createRegistry>
}

/** Delivers and summarizes until stopped; attempts under way are finished and settled, and leases given back. */
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
  const thrift = keepHeapSmall()
  const openPool = (max: number, settings: Readonly<Record<string, string>> = poolSettings) =>
    createPool(address, {
      max,
      settings,
      onIdleError: (error) => log.warn({ reason: error.message }, 'an idle database connection broke'),
    })
  const pool = openPool(connections)
  const otherPool = openPool(otherConnections)
  const backfillPool = openPool(backfillConnections, {})
  const register = createRegistry('worker')
  const observer = createDeliveryMetrics(register, () => worker.engine.inFlight)
  const clock = followDatabaseClock(pool)
  const worker = createWorker({ pool, clock, log, kinds, settings, observer, otherPool, workerId })
  const backfill = createBackfillOf({ pool: backfillPool, clock, log, kinds, maxLead })
  const listener = listen(
    address,
    deliveriesChannel,
    (said) => {
      if (said === largeCommit) worker.fanOuts.wake()
      worker.engine.wake()
    },
    (error) => log.warn({ reason: error.message }, 'notifications are lost for now; polling goes on'),
  )
  let stopping = false
  // A worker that is an hour ahead would take every endpoint's queue from its holder.
  void clock.ready.then(() => {
    if (stopping) return
    worker.engine.start()
    worker.registrants.start()
    worker.recoverer.start()
    worker.fanOuts.start()
    backfill.start()
  })
  const maxAttempts = attemptsOf(settings.schedule)
  const summarizer =
    summaries === null
      ? null
      : superviseSummarizer({ address, summaries, maxAttempts, workerId }, log, () =>
          createJobs(pool).giveBackAllOf(workerId, clock.now()),
        )
  return {
    pool,
    clock,
    register,
    async stop() {
      stopping = true
      clock.stop()
      // At once: while a connection is being closed, nothing more may be begun.
      await atMost(
        stopMilliseconds,
        Promise.all([listener.close(), worker.close(), backfill.stop(), summarizer?.stop()]),
      )
      await Promise.all([pool, otherPool, backfillPool].map((each) => endPool(each)))
      thrift[Symbol.dispose]()
    },
  }
}
