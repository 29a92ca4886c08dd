/** The worker in a process of its own, beside the API of role `all`. Its parent tells it where the database is. */
import { createLog } from './running.ts'
import type { WorkerMessage, WorkerOrders, WorkerReport } from './supervise.ts'
import { startWorker } from './worker.ts'

process.once('message', ({ address, settings, summaries, workerId, logLevel }: WorkerOrders) => {
  const log = createLog(logLevel)
  const worker = startWorker({ address, log, settings, summaries, workerId })
  process.on('message', async (message: WorkerMessage) => {
    if ('due' in message) {
      worker.take(message.due)
      return
    }
    const metrics = await worker.register.getMetricsAsJSON()
    if (process.connected) process.send?.({ metrics } satisfies WorkerReport)
  })
  void worker.ready.then(() => process.send?.({ ready: true } satisfies WorkerReport))
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    const stopped = worker.stop()
    // From here on nothing is begun.
    log.info('the worker stops: it completes what is under way')
    await stopped
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  // A parent that is gone cannot say stop, and its database may be gone with it.
  process.on('disconnect', stop)
})

// Ctrl-C reaches the whole group; the parent says when to stop.
process.on('SIGINT', () => {})
