/** The summarizer as a running part. */
import type { Logger } from 'pino'
import { followDatabaseClock } from '../db/clock.ts'
import { createPool, type DatabaseAddress, endPool } from '../db/pool.ts'
import { kinds } from '../desk/index.ts'
import { maxClockSkew } from '../journal/clock-skew.ts'
import { schemaOf } from '../schema.ts'
import { createSummarizer, type SummarySettings } from '../summarizer/summarizer.ts'
import type { Running } from './running.ts'

/** A few summaries are written at a time. */
const connections = 4

/** What a summarizer is told. */
export interface SummarizerOrders {
  readonly summaries: SummarySettings
  /** Attempts that each delivery of an event has. */
  readonly maxAttempts: number
  /** The owner of its leases: the worker that it is a part of. */
  readonly workerId: string
}

/** Writes summaries of this database until stopped; those under way are finished, or given back. */
export function startSummarizer(
  address: DatabaseAddress,
  { summaries, maxAttempts, workerId }: SummarizerOrders,
  log: Logger,
): Running {
  // Of its own, not the worker's: what is part of the stream must not be lost with the machine.
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
  // What is due is due by the database's time, and so is what is written.
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
