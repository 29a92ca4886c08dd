/** The worker as a running part: an engine that is woken by notifications. */
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { listen } from '../db/listen.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { createWorker, type DeliverySettings } from '../deliveries.ts'
import { deliveriesChannel } from '../journal/notifier.ts'
import { systemClock } from '../kernel/clock.ts'
import { kinds } from '../resources/index.ts'
import type { Running } from './running.ts'

/** Delivers until stopped; attempts under way are finished and settled, and leases given back. */
export function startWorker(options: {
  readonly pool: Pool
  readonly address: DatabaseAddress
  readonly log: Logger
  readonly settings: DeliverySettings
}): Running {
  const { pool, address, log, settings } = options
  const worker = createWorker({ pool, clock: systemClock, log, kinds, settings })
  const listener = listen(
    address,
    deliveriesChannel,
    () => worker.engine.wake(),
    (error) => log.warn({ reason: error.message }, 'notifications are lost for now; polling goes on'),
  )
  worker.engine.start()
  return {
    async stop() {
      // At once: while a connection is being closed, nothing more may be begun.
      await Promise.all([listener.close(), worker.close()])
    },
  }
}
