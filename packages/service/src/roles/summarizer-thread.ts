/** The summarizer in a thread of its own. Its parent tells it where the database is, and when to stop. */
import { parentPort, workerData } from 'node:worker_threads'
import { createLog } from '../kernel/log.ts'
import { startSummarizer } from './summarizer.ts'
import type { ThreadOrders } from './supervise-thread.ts'

const { logLevel, ...orders } = workerData as ThreadOrders
const summarizer = startSummarizer(orders, createLog(logLevel))

parentPort?.once('message', async () => {
  await summarizer.stop()
  process.exit(0)
})
