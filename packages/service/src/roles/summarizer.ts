import type { Logger } from 'pino'
import { followDatabaseClock } from '../db/clock.ts'
import { createPool, type DatabaseAddress, endPool } from '../db/pool.ts'
import { kinds } from '../desk/index.ts'
import { maxClockSkew } from '../journal/commit-protocol.ts'
import { schemaOf } from '../schema.ts'
import { createSummarizer, type SummarySettings } from '../summarizer/summarizer.ts'
import type { Running } from './running.ts'

const connections = 4

export interface SummarizerOrders {
  readonly summaries: SummarySettings
  readonly maxAttempts: number
  /** The owner of its leases: the id of its worker. */
  readonly workerId: string
}

export function startSummarizer(
  address: DatabaseAddress,
  { summaries, maxAttempts, workerId }: SummarizerOrders,
  log: Logger,
): Running {
  // Not the worker's pool: summaries are part of the stream, so their commits must be durable.
  const pool = createPool(address, {
    max: connections,
    onIdleError: (error) => log.warn({ reason: error.message }, 'an idle database connection broke'),
  })
  const clock = followDatabaseClock(pool)
  const summarizer = createSummarizer({
    pool,
    clock,
    maxClockSkew,
    log,
    kinds,
    commitFunction: schemaOf(kinds).commitFunction,
    settings: summaries,
    maxAttempts,
    workerId,
  })
  let stopping = false
  // Due times and timestamps are in the database's time.
  void clock.ready.then(() => {
    if (!stopping) summarizer.engine.start()
  })
  return {
    async stop() {
      stopping = true
      clock.stop()
      await summarizer.close()
      await endPool(pool)
    },
  }
}
