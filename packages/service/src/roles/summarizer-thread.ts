import { parentPort, workerData } from 'node:worker_threads'
import { createLog } from '../kernel/log.ts'
import { startSummarizer } from './summarizer.ts'
import type { SummarizerMessage, ThreadOrders } from './supervise-thread.ts'

const { logLevel, addresses, ...orders } = workerData as ThreadOrders
const log = createLog(logLevel)
const summarizers = addresses.map((address) => startSummarizer(address, orders, log))

parentPort?.on('message', async (message: SummarizerMessage) => {
  if (message !== 'stop') {
    summarizers.push(startSummarizer(message.serve, orders, log))
    return
  }
  await Promise.all(summarizers.map((summarizer) => summarizer.stop()))
  process.exit(0)
})
