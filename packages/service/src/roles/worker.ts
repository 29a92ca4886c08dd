/** The worker as a running part: an engine that is woken by notifications, and beside it the summarizer. */
import type { Logger } from 'pino'
import { listen } from '../db/listen.ts'
import { createPool, type DatabaseAddress, endPool } from '../db/pool.ts'
import { createWorker, type DeliverySettings } from '../deliveries.ts'
import { attemptsOf } from '../delivery/schedule.ts'
import { deliveriesChannel } from '../journal/notifier.ts'
import { systemClock } from '../kernel/clock.ts'
import { kinds } from '../resources/index.ts'
import type { SummarySettings } from '../summaries.ts'
import type { Running } from './running.ts'
import { superviseSummarizer } from './supervise-thread.ts'

/** Connections of a worker: its statements are few and large. */
const connections = 8

/** Delivers and summarizes until stopped; attempts under way are finished and settled, and leases given back. */
export function startWorker(options: {
  readonly address: DatabaseAddress
  readonly log: Logger
  readonly settings: DeliverySettings
  readonly summaries: SummarySettings
}): Running {
  const { address, log, settings, summaries } = options
  // What a worker notes may be lost with the machine: then a delivery goes out again, as at least once allows.
  const pool = createPool(address, {
    max: connections,
    durable: false,
    onIdleError: (error) => log.warn({ reason: error.message }, 'an idle database connection broke'),
  })
  const worker = createWorker({ pool, clock: systemClock, log, kinds, settings })
  const listener = listen(
    address,
    deliveriesChannel,
    () => {
      worker.engine.wake()
      worker.recoverer.wake()
    },
    (error) => log.warn({ reason: error.message }, 'notifications are lost for now; polling goes on'),
  )
  worker.engine.start()
  worker.registrants.start()
  worker.recoverer.start()
  const maxAttempts = attemptsOf(settings.schedule)
  const summarizer = superviseSummarizer({ address, summaries, maxAttempts }, log)
  return {
    async stop() {
      // At once: while a connection is being closed, nothing more may be begun.
      await Promise.all([listener.close(), worker.close(), summarizer.stop()])
      await endPool(pool)
    },
  }
}
