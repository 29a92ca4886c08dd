/** The program of the summarizer's thread: a summarizer for each database. */
import { parentPort, workerData } from 'node:worker_threads'
import { followDatabaseClock } from '../db/clock.ts'
import { reportTo } from '../db/open.ts'
import { createPool, type DatabaseAddress, endPool } from '../db/pool.ts'
import { kinds } from '../desk/index.ts'
import { maxClockSkew } from '../journal/commit-protocol.ts'
import { createLog } from '../kernel/log.ts'
import { schemaOf } from '../schema.ts'
import { createSummarizer } from '../summarizer/summarizer.ts'
import type { Running } from './listen.ts'
import type { SummarizerMessage, ThreadOrders } from './supervise-thread.ts'

const connections = 4

const { logLevel, addresses, summaries, maxAttempts, workerId } = workerData as ThreadOrders
const log = createLog(logLevel)
const summarizers = addresses.map(startSummarizer)

parentPort?.on('message', async (message: SummarizerMessage) => {
  if (message !== 'stop') {
    summarizers.push(startSummarizer(message.serve))
    return
  }
  await Promise.all(summarizers.map((summarizer) => summarizer.stop()))
  process.exit(0)
})

function startSummarizer(address: DatabaseAddress): Running {
  // Not the worker's pool: summaries are part of the stream, so their commits must be durable.
  const pool = createPool(address, {
    max: connections,
    onIdleError: reportTo(log),
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
