/** The entry point of the worker process in role `all`. The API sends the addresses of the databases over IPC. */
import { createLog } from '../kernel/log.ts'
import { snapshotsOf } from '../metrics/registry.ts'
import { openTelemetry } from '../telemetry/open.ts'
import type { WorkerMessage, WorkerOrders, WorkerReport } from './supervise.ts'
import { startWorkers } from './worker.ts'

// Telemetry that cannot be turned on has already prevented the start of the parent.
const opened = openTelemetry('worker')

process.once('message', async ({ databases, logLevel, ...orders }: WorkerOrders) => {
  const usable = databases.map(() => Promise.withResolvers<void>())
  process.on('message', (message: WorkerMessage) => {
    if ('serve' in message) usable[message.serve]?.resolve()
  })
  const telemetry = await opened
  const log = createLog(logLevel, telemetry?.logFields)
  telemetry?.reportTo(log)
  const workers = startWorkers(
    databases.map((database, index) => ({ ...database, ready: usable[index]?.promise as Promise<void> })),
    {
      ...orders,
      log,
      telemetry,
      onReady: (index) => void (process.connected && process.send?.({ ready: index } satisfies WorkerReport)),
    },
  )
  process.on('message', async (message: WorkerMessage) => {
    if ('due' in message) workers.each[message.index]?.drain(message.due)
    if (!('ask' in message)) return
    const metrics = await Promise.all(snapshotsOf(workers.registers))
    if (process.connected) process.send?.({ metrics } satisfies WorkerReport)
  })
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    const stopped = workers.stop()
    log.info('the worker stops: it completes what is under way')
    await stopped
    await telemetry?.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  // Without its parent nobody can stop this process, and the parent's database may be gone too.
  process.on('disconnect', stop)
})

// Ctrl-C reaches the whole process group; the parent decides when to stop.
process.on('SIGINT', () => {})
