/**
 * The offload thread. Large bodies are read, checked, committed and answered in it: JSON.parse of 16 MiB takes from 11 ms to 2 s in one piece,
 * by what they hold. Large responses are made in it: a page of 6 MB takes 30 ms from the database to the socket. The thread is an API of its
 * own (offload-service.ts), started with the first such request and ended when none has come for a while. A few requests are in it at once; the
 * others wait in a fair queue, as the bytes that they came as.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { FairQueue } from '../admission/fair-queue.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import type { Offload, OffloadedRequest, OffloadedResponse } from '../http/offload.ts'
import type { StorageLimits } from '../journal/change.ts'
import { loggable } from '../kernel/loggable.ts'
import type { MetricsSnapshot } from '../metrics/registry.ts'
import type { Running } from './running.ts'

export interface OffloadOptions {
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
export type ToThread =
  | { readonly type: 'answer'; readonly number: number; readonly request: OffloadedRequest }
  | { readonly type: 'metrics' }
  | { readonly type: 'stop' }

/** What it tells. */
export type FromThread =
  | ({ readonly type: 'answer'; readonly number: number } & OffloadedResponse)
  | { readonly type: 'failure'; readonly number: number; readonly message: string }
  | { readonly type: 'metrics'; readonly metrics: readonly MetricsSnapshot[] }

const mebibyte = 1024 * 1024

/**
 * Bytes of bodies in the thread at once: reading, committing and answering a body takes up to ten times its memory. While one waits for the
 * database another is read.
 */
const limits = {
  capacity: 16 * mebibyte,
  share: 1,
  waiting: 4_000,
  waitingOfOne: 1_000,
  waitAtMost: 30_000,
} as const
/** What each counts at least: four are in the thread at once. */
const leastCost = 4 * mebibyte
export const offloadedAtOnce = limits.capacity / leastCost

function costOf({ body }: OffloadedRequest): number {
  return Math.min(Math.max(body.length, leastCost), limits.capacity / 2)
}

/** The thread's heap at most, in MB: what two of the largest bodies need, whatever they hold. */
const heapMegabytes = 320

/** How long a thread that has nothing to do is kept, in milliseconds. */
const idleMilliseconds = 60_000
/** How long it may take to tell its figures, and to stop, in milliseconds. */
const metricsMilliseconds = 1_000
const stopMilliseconds = 5_000

interface OffloadThread extends Running {
  readonly offload: Offload
  /** Requests that wait to be let into the thread. */
  readonly waiting: () => number
  /** The thread's figures: none while there is no thread, or it does not answer in time. */
  metrics(): Promise<readonly MetricsSnapshot[]>
  /** Settles when the thread has answered what it was asked so far. */
  idle(): Promise<void>
}

interface PendingRequest {
  readonly resolve: (response: OffloadedResponse) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<void>
  /** What it has not answered yet, by number. */
  readonly pending: Map<number, PendingRequest>
  readonly metricsRequests: ((snapshots: readonly MetricsSnapshot[]) => void)[]
}

/** Begins no thread yet. */
export function createOffloadThread(options: OffloadOptions, log: Logger): OffloadThread {
  const queue = new FairQueue('offloaded', limits)
  let thread: Thread | null = null
  let idle: NodeJS.Timeout | undefined
  let lastNumber = 0
  const answering = new Set<Promise<unknown>>()

  function ask(request: OffloadedRequest): Promise<OffloadedResponse> {
    clearTimeout(idle)
    thread ??= startThread()
    const number = ++lastNumber
    const { promise, resolve, reject } = Promise.withResolvers<OffloadedResponse>()
    thread.pending.set(number, { resolve, reject })
    const { body } = request
    const whole = body.byteLength === body.buffer.byteLength
    const message: ToThread = { type: 'answer', number, request }
    // Given away rather than copied, where the bytes have their memory to themselves.
    thread.worker.postMessage(message, whole ? [body.buffer as ArrayBuffer] : [])
    return promise
  }

  function startThread(): Thread {
    // The file beside this one: a source in the repository, JavaScript as published.
    const file = new URL(import.meta.url.replace(/offload(\.[jt]s)$/, 'offload-thread$1'))
    const worker = new Worker(file, {
      workerData: options,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 16 },
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const started: Thread = { worker, ended, pending: new Map(), metricsRequests: [] }
    worker.on('message', (message: FromThread) => receive(started, message))
    worker.on('error', (error: Error) =>
      log.error({ err: loggable(error) }, 'the thread for large bodies failed'),
    )
    worker.once('exit', (code) => {
      resolve()
      if (thread === started) thread = null
      for (const resolve of started.metricsRequests.splice(0)) resolve([])
      // A commit of theirs may have taken effect.
      const lost = new Error(`the thread for large bodies ended with code ${code}`)
      for (const { reject } of started.pending.values()) reject(lost)
      started.pending.clear()
    })
    return started
  }

  function receive(from: Thread, message: FromThread): void {
    if (message.type === 'metrics') {
      from.metricsRequests.shift()?.(message.metrics)
      return
    }
    const request = from.pending.get(message.number)
    from.pending.delete(message.number)
    if (message.type === 'failure') request?.reject(new Error(message.message))
    else {
      const { status, headers, body } = message
      request?.resolve({ status, headers, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) })
    }
    if (thread !== from || from.pending.size > 0) return
    clearTimeout(idle)
    idle = setTimeout(() => void stop(), idleMilliseconds)
    idle.unref()
  }

  /** What comes from now on gets another thread. */
  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = thread
    thread = null
    if (ending === null) return
    const message: ToThread = { type: 'stop' }
    ending.worker.postMessage(message)
    const late = setTimeout(() => ending.worker.terminate(), stopMilliseconds)
    await ending.ended
    clearTimeout(late)
  }

  return {
    waiting: () => queue.waiting,
    offload(request, signal) {
      const work = { cost: costOf(request), signal }
      const answered = queue
        .run(request.organizationId, work, () => ask(request))
        .finally(() => answering.delete(answered))
      answering.add(answered)
      return answered
    },
    metrics() {
      const asking = thread
      if (asking === null) return Promise.resolve([])
      const { promise, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>()
      const late = setTimeout(() => resolve([]), metricsMilliseconds)
      asking.metricsRequests.push(resolve)
      const message: ToThread = { type: 'metrics' }
      asking.worker.postMessage(message)
      return promise.finally(() => clearTimeout(late))
    },
    idle: async () => void (await Promise.allSettled(answering)),
    stop,
  }
}
