/** The worker in a process of its own, beside the API of role `all`. Its parent tells it where the database is. */
import { createLog } from '../kernel/log.ts'
import { openTelemetry } from '../telemetry/open.ts'
import type { WorkerMessage, WorkerOrders, WorkerReport } from './supervise.ts'
import { startWorker } from './worker.ts'

// What the parent could not turn on has kept it from starting.
const opened = openTelemetry('worker')

process.once('message', async ({ address, settings, summaries, workerId, logLevel }: WorkerOrders) => {
  const telemetry = await opened
  const log = createLog(logLevel, telemetry?.logFields)
  telemetry?.reportTo(log)
  const worker = startWorker({ address, log, settings, summaries, workerId, telemetry })
  process.on('message', async (message: WorkerMessage) => {
    if ('due' in message) {
      worker.take(message.due)
      return
    }
    const metrics = await worker.register.getMetricsAsJSON()
    if (process.connected) process.send?.({ metrics } satisfies WorkerReport)
  })
  void worker.ready.then(() => process.connected && process.send?.({ ready: true } satisfies WorkerReport))
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    const stopped = worker.stop()
    // From here on nothing is begun.
    log.info('the worker stops: it completes what is under way')
    await stopped
    await telemetry?.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  // A parent that is gone cannot say stop, and its database may be gone with it.
  process.on('disconnect', stop)
})

// Ctrl-C reaches the whole group; the parent says when to stop.
process.on('SIGINT', () => {})
