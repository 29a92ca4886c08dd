/**
 * Large bodies are read, checked, committed and answered in a thread beside the API: JSON.parse of 16 MiB takes from 11 ms to
 * 2 s in one piece, by what they hold. Large answers are made there: a page of 6 MB takes 30 ms from the database to the
 * socket, and most of its memory is V8's to collect. The thread is an API of its own (bulk-service.ts), begun with the first such request
 * and ended when none has come for a while. A few requests are there at once (`bulk-queue.ts`); the others wait here as the bytes
 * that they came as.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import type { HandedBack, HandedOver, HandOver } from '../http/hand-over.ts'
import type { StorageLimits } from '../journal/change.ts'
import type { LargeWork } from '../kernel/large-work.ts'
import { loggable } from '../kernel/loggable.ts'
import type { RoomForOthers } from '../kernel/room-for-others.ts'
import type { MetricsSnapshot } from '../metrics/registry.ts'
import { BulkQueue, type BulkRequest } from './bulk-queue.ts'
import type { Running } from './running.ts'

export interface BulkOrders {
  /** The part of the time that it has, as `RoomForOthers` tells it. */
  readonly part: Int32Array
  /** The directory's first, with names where there are several. */
  readonly databases: readonly { readonly name: string | null; readonly address: DatabaseAddress }[]
  readonly settings: DeliverySettings
  /** Milliseconds. */
  readonly searchTimeout: number
  /** As much as it likes unless told. */
  readonly storage: StorageLimits | undefined
  readonly logLevel: string
}

/** What the thread is asked. */
export type BulkAsk =
  | { readonly ask: 'answer'; readonly number: number; readonly request: HandedOver }
  | { readonly ask: 'metrics' }
  | { readonly ask: 'stop' }

/** What it tells. */
export type BulkTold =
  | ({ readonly told: 'answer'; readonly number: number } & HandedBack)
  | { readonly told: 'failure'; readonly number: number; readonly message: string }
  | { readonly told: 'metrics'; readonly metrics: readonly MetricsSnapshot[] }

/** The thread's heap at most, in MB: what two of the largest bodies need, whatever they hold. */
const heapMegabytes = 320

/** How long a thread that has nothing to do is kept, in milliseconds. */
const keptMilliseconds = 60_000
/** How long it may take to tell its figures, and to stop, in milliseconds. */
const tellMilliseconds = 1_000
const stopMilliseconds = 5_000

export interface Bulk extends Running {
  readonly handOver: HandOver
  /** The thread's figures: none while there is no thread, or it does not answer in time. */
  metrics(): Promise<readonly MetricsSnapshot[]>
}

/** Its body is given away when it begins. */
interface Waiting extends BulkRequest {
  readonly request: HandedOver
  readonly resolve: (answer: HandedBack) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<void>
  /** What it has not answered yet, by number. */
  readonly underWay: Map<number, Waiting>
  readonly asked: ((snapshots: readonly MetricsSnapshot[]) => void)[]
}

/** Begins no thread yet. */
export function createBulk(
  orders: Omit<BulkOrders, 'part'>,
  { room, largeWork }: { readonly room: RoomForOthers; readonly largeWork: LargeWork },
  log: Logger,
): Bulk {
  const queue = new BulkQueue(begin)
  let thread: Thread | null = null
  let idle: NodeJS.Timeout | undefined
  let numbers = 0

  function begin(waiting: Waiting): void {
    clearTimeout(idle)
    thread ??= startThread()
    const number = ++numbers
    thread.underWay.set(number, waiting)
    room.beginElsewhere(waiting.request.organizationId)
    const { body } = waiting.request
    const whole = body.byteLength === body.buffer.byteLength
    const ask: BulkAsk = { ask: 'answer', number, request: waiting.request }
    // Given away rather than copied, where the bytes have their memory to themselves.
    thread.worker.postMessage(ask, whole ? [body.buffer as ArrayBuffer] : [])
  }

  function startThread(): Thread {
    // The file beside this one: a source in the repository, JavaScript as published.
    const file = new URL(import.meta.url.replace(/bulk(\.[jt]s)$/, 'bulk-thread$1'))
    const worker = new Worker(file, {
      workerData: { ...orders, part: room.partElsewhere } satisfies BulkOrders,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 16 },
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const started: Thread = { worker, ended, underWay: new Map(), asked: [] }
    worker.on('message', (told: BulkTold) => notify(started, told))
    worker.on('error', (error: Error) =>
      log.error({ err: loggable(error) }, 'the thread for large bodies failed'),
    )
    worker.once('exit', (code) => {
      resolve()
      if (thread === started) thread = null
      for (const tell of started.asked.splice(0)) tell([])
      // A commit of theirs may have taken effect.
      const lost = new Error(`the thread for large bodies ended with code ${code}`)
      for (const waiting of started.underWay.values()) {
        end(waiting)
        waiting.reject(lost)
      }
      started.underWay.clear()
    })
    return started
  }

  function notify(from: Thread, told: BulkTold): void {
    if (told.told === 'metrics') {
      from.asked.shift()?.(told.metrics)
      return
    }
    const waiting = from.underWay.get(told.number)
    from.underWay.delete(told.number)
    if (waiting !== undefined) end(waiting)
    if (told.told === 'failure') waiting?.reject(new Error(told.message))
    else {
      const { status, headers, body } = told
      waiting?.resolve({ status, headers, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) })
    }
    if (thread === null || !queue.isIdle) return
    clearTimeout(idle)
    idle = setTimeout(() => void stop(), keptMilliseconds)
    idle.unref()
  }

  function end(waiting: Waiting): void {
    room.endElsewhere(waiting.organizationId)
    queue.end(waiting)
  }

  /** What comes from now on gets another thread. */
  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = thread
    thread = null
    if (ending === null) return
    const ask: BulkAsk = { ask: 'stop' }
    ending.worker.postMessage(ask)
    const late = setTimeout(() => ending.worker.terminate(), stopMilliseconds)
    await ending.ended
    clearTimeout(late)
  }

  function answerInThread(request: HandedOver, signal: AbortSignal): Promise<HandedBack> {
    const { organizationId, body } = request
    const { promise, resolve, reject } = Promise.withResolvers<HandedBack>()
    const waiting = { organizationId, bytes: body.length, request, resolve, reject }
    const leave = () => {
      if (queue.remove(waiting)) reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    queue.add(waiting)
    return promise.finally(() => signal.removeEventListener('abort', leave))
  }

  return {
    handOver: (request, signal) =>
      largeWork.run(request.organizationId, () => answerInThread(request, signal), { signal }),
    metrics() {
      const asked = thread
      if (asked === null) return Promise.resolve([])
      const { promise, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>()
      const late = setTimeout(() => resolve([]), tellMilliseconds)
      asked.asked.push(resolve)
      const ask: BulkAsk = { ask: 'metrics' }
      asked.worker.postMessage(ask)
      return promise.finally(() => clearTimeout(late))
    },
    stop,
  }
}
