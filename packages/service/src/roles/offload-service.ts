/** What the thread for large bodies and answers runs: another API in the same process, which listens nowhere. Its parent tells it what. */
import { setTimeout as delay } from 'node:timers/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createApp } from '../app.ts'
import { followDatabaseClock } from '../db/clock.ts'
import { reportTo } from '../db/open.ts'
import { createPool, endPool } from '../db/pool.ts'
import { handleOffloaded } from '../http/offload.ts'
import { maxClockSkew } from '../journal/clock-skew.ts'
import { createLog } from '../kernel/log.ts'
import { snapshotsOf } from '../metrics/registry.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { tuneHeap } from './heap-tuning.ts'
import { type FromThread, type OffloadOptions, offloadedAtOnce, type ToThread } from './offload.ts'

/** A request holds one at a time; one is for the clock and for what is told of commits. */
const connections = offloadedAtOnce + 1

/** How long the first requests wait for the database's clock, in milliseconds: what needs it says so itself. */
const clockMilliseconds = 10_000

const { databases, settings, searchTimeout, storage, logLevel } = workerData as OffloadOptions
tuneHeap()
const port = parentPort as MessagePort
// What the process could not turn on has kept it from starting.
const telemetry = await openTelemetry('offload')
const log = createLog(logLevel, telemetry?.logFields)
telemetry?.reportTo(log)
/** Requests that come here were let in for a database that can be used; its time is waited for. */
const opened = databases.map(({ name, address }) => {
  const pool = createPool(address, { max: connections, onIdleError: reportTo(log, name) })
  const clock = followDatabaseClock(pool)
  const ready = Promise.race([clock.ready, delay(clockMilliseconds, undefined, { ref: false })])
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
  // Sent between threads, bytes are no Buffer any more.
  settings: {
    ...settings,
    encryptionKey: Buffer.from(settings.encryptionKey),
    encryptionKeyPrevious:
      settings.encryptionKeyPrevious === null ? null : Buffer.from(settings.encryptionKeyPrevious),
  },
  // The key's call was counted where it came in.
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
  // A large answer is given away; the small ones of a pool are copied.
  const isWhole = message.type === 'answer' && message.body.byteLength === message.body.buffer.byteLength
  port.postMessage(message, isWhole ? [message.body.buffer as ArrayBuffer] : [])
}
