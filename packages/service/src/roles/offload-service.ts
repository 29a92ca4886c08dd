/** The program of the offload thread: an API that does not listen. The main thread sends it requests. */
import { workerData } from 'node:worker_threads'
import { createApp } from '../app.ts'
import { followDatabaseClock } from '../db/clock.ts'
import { reportTo } from '../db/open.ts'
import { createPool, endPool } from '../db/pool.ts'
import { handleOffloaded } from '../http/offload.ts'
import { maxClockSkew } from '../journal/commit-protocol.ts'
import { answerCalls } from '../kernel/call-thread.ts'
import { createLog } from '../kernel/log.ts'
import { atMost } from '../kernel/periodic.ts'
import { snapshotsOf } from '../metrics/registry.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { tuneHeap } from './heap-tuning.ts'
import { type OffloadAnswer, type OffloadCall, type OffloadOptions, offloadedAtOnce } from './offload.ts'

const connections = offloadedAtOnce + 1

/** Milliseconds that the first requests wait for the database's clock; the journal checks the clock itself. */
const clockMilliseconds = 10_000

const { databases, settings, searchTimeout, storage, logLevel } = workerData as OffloadOptions
tuneHeap()
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

answerCalls<OffloadCall, OffloadAnswer>(
  async (call) => {
    if (call === 'metrics') return Promise.all(snapshotsOf(registers))
    await opened[call.shard]?.ready
    return handleOffloaded(server, call)
  },
  {
    // A large body is transferred; a small one shares its memory with others, so it is copied.
    transferred: (answer) =>
      'body' in answer && answer.body.byteLength === answer.body.buffer.byteLength
        ? [answer.body.buffer as ArrayBuffer]
        : [],
    async stop() {
      await server.close()
      for (const { clock } of opened) clock.stop()
      await Promise.all(opened.map(({ pool }) => endPool(pool)))
      await telemetry?.close()
    },
  },
)
