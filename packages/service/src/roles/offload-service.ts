/** The program of the offload thread: an API that does not listen. The main thread sends it requests. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createApp } from '../app.ts'
import { followDatabaseClock } from '../db/clock.ts'
import { reportTo } from '../db/open.ts'
import { createPool, endPool } from '../db/pool.ts'
import { handleOffloaded } from '../http/offload.ts'
import { maxClockSkew } from '../journal/commit-protocol.ts'
import { createLog } from '../kernel/log.ts'
import { atMost } from '../kernel/periodic.ts'
import { snapshotsOf } from '../metrics/registry.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { tuneHeap } from './heap-tuning.ts'
import { type FromThread, type OffloadOptions, offloadedAtOnce, type ToThread } from './offload.ts'

const connections = offloadedAtOnce + 1

/** Milliseconds that the first requests wait for the database's clock; the journal checks the clock itself. */
const clockMilliseconds = 10_000

const { databases, settings, searchTimeout, storage, logLevel } = workerData as OffloadOptions
tuneHeap()
const port = parentPort as MessagePort
// Telemetry that cannot be turned on has already prevented the start of the process.
const telemetry = await openTelemetry('offload')
const log = createLog(logLevel, telemetry?.logFields)
telemetry?.reportTo(log)
/** The main thread admits requests only for databases that are ready; requests wait for the database's time. */
const opened = databases.map(({ name, address }) => {
  const pool = createPool(address, { max: connections, onIdleError: reportTo(log, name) })
  const clock = followDatabaseClock(pool)
  const ready = atMost(clockMilliseconds, clock.ready)
  return { name, pool, clock, ready, notifyWorker: null, isReady: () => true }
})
const [first, ...others] = opened
if (first === undefined) throw new Error('no database was named')
const { server, registers } = createApp({
  pool: first.pool,
  clock: first.clock,
  ...(first.name === null ? {} : { name: first.name }),
  others,
  log,
  maxClockSkew,
  searchTimeout,
  ...(storage && { storage }),
  role: 'offload',
  telemetry,
  // Sending between threads turns a Buffer into a Uint8Array.
  settings: {
    ...settings,
    encryptionKey: Buffer.from(settings.encryptionKey),
    encryptionKeyPrevious:
      settings.encryptionKeyPrevious === null ? null : Buffer.from(settings.encryptionKeyPrevious),
  },
  // The main thread has counted the call against the key's limit.
  rateLimit: null,
})

port.on('message', async (message: ToThread) => {
  switch (message.type) {
    case 'answer':
      return send(await answer(message))
    case 'metrics':
      return send({ type: 'metrics', metrics: await Promise.all(snapshotsOf(registers)) })
    case 'stop':
      await server.close()
      for (const { clock } of opened) clock.stop()
      await Promise.all(opened.map(({ pool }) => endPool(pool)))
      await telemetry?.close()
      process.exit(0)
  }
})

async function answer({ number, request }: Extract<ToThread, { type: 'answer' }>): Promise<FromThread> {
  try {
    await opened[request.shard]?.ready
    return { type: 'answer', number, ...(await handleOffloaded(server, request)) }
  } catch (error) {
    return { type: 'failure', number, message: (error as Error).message }
  }
}

function send(message: FromThread): void {
  // A large body is transferred; a small one shares its memory with others, so it is copied.
  const isWhole = message.type === 'answer' && message.body.byteLength === message.body.buffer.byteLength
  port.postMessage(message, isWhole ? [message.body.buffer as ArrayBuffer] : [])
}
