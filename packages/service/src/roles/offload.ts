/**
 * The offload thread parses, validates, commits and responds to large bodies, and creates large responses, as either
 * can block the event loop for up to seconds (decision 25). It runs an API of its own (offload-service.ts), starts with
 * the first such request, and ends when it has been idle for a minute. A few requests run in it at once; the others
 * wait in a fair queue, with their bodies unparsed.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { FairQueue } from '../admission/fair-queue.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import type { OffloadedRequest, OffloadedResponse } from '../http/offload.ts'
import type { StorageLimits } from '../journal/change.ts'
import { loggable } from '../kernel/log.ts'
import type { MetricsSnapshot } from '../metrics/registry.ts'

export interface OffloadOptions {
  /** First the one with the directory; with names when there are several. */
  readonly databases: readonly { readonly name: string | null; readonly address: DatabaseAddress }[]
  readonly settings: DeliverySettings
  readonly searchTimeout: number
  /** Undefined: no limits. */
  readonly storage: StorageLimits | undefined
  readonly logLevel: string
}

export type ToThread =
  | { readonly type: 'answer'; readonly number: number; readonly request: OffloadedRequest }
  | { readonly type: 'metrics' }
  | { readonly type: 'stop' }

export type FromThread =
  | ({ readonly type: 'answer'; readonly number: number } & OffloadedResponse)
  | { readonly type: 'failure'; readonly number: number; readonly message: string }
  | { readonly type: 'metrics'; readonly metrics: readonly MetricsSnapshot[] }

const mebibyte = 1024 * 1024

/** Bytes of bodies in the thread at once: a body takes up to ten times its size in memory. */
const limits = {
  capacity: 16 * mebibyte,
  share: 1,
  waiting: 4_000,
  waitingOfOne: 1_000,
  waitAtMost: 30_000,
} as const
/** Minimum cost of a request: four are in the thread at once. */
const leastCost = 4 * mebibyte
export const offloadedAtOnce = limits.capacity / leastCost

function costOf({ body }: OffloadedRequest): number {
  return Math.min(Math.max(body.length, leastCost), limits.capacity / 2)
}

/** In MB: enough for two of the largest bodies. */
const heapMegabytes = 320

const idleMilliseconds = 60_000
const metricsMilliseconds = 1_000
const stopMilliseconds = 5_000

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<void>
  readonly pending: Map<number, PromiseWithResolvers<OffloadedResponse>>
  readonly metricsRequests: ((snapshots: readonly MetricsSnapshot[]) => void)[]
}

/** Starts no thread until the first request. */
export function createOffloadThread(options: OffloadOptions, log: Logger) {
  const queue = new FairQueue('offloaded', limits)
  let thread: Thread | null = null
  let idle: NodeJS.Timeout | undefined
  let lastNumber = 0
  const answering = new Set<Promise<unknown>>()

  function ask(request: OffloadedRequest): Promise<OffloadedResponse> {
    clearTimeout(idle)
    thread ??= startThread()
    const number = ++lastNumber
    const pending = Promise.withResolvers<OffloadedResponse>()
    thread.pending.set(number, pending)
    const { body } = request
    const whole = body.byteLength === body.buffer.byteLength
    const message: ToThread = { type: 'answer', number, request }
    // Transferred instead of copied, when the body does not share its memory.
    thread.worker.postMessage(message, whole ? [body.buffer as ArrayBuffer] : [])
    return pending.promise
  }

  function startThread(): Thread {
    // In the same folder: TypeScript in the repository, JavaScript as published.
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
      // Their commits may have taken effect.
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

  /** Later requests start another thread. */
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
    offload(request: OffloadedRequest, signal: AbortSignal): Promise<OffloadedResponse> {
      const work = { cost: costOf(request), signal }
      const answered = queue
        .run(request.organizationId, work, () => ask(request))
        .finally(() => answering.delete(answered))
      answering.add(answered)
      return answered
    },
    /** The thread's metrics: empty without a thread, or when it does not respond in time. */
    metrics(): Promise<readonly MetricsSnapshot[]> {
      const asking = thread
      if (asking === null) return Promise.resolve([])
      const { promise, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>()
      const late = setTimeout(() => resolve([]), metricsMilliseconds)
      asking.metricsRequests.push(resolve)
      const message: ToThread = { type: 'metrics' }
      asking.worker.postMessage(message)
      return promise.finally(() => clearTimeout(late))
    },
    /** Settles when all requests so far have been answered. */
    idle: async () => void (await Promise.allSettled(answering)),
    stop,
  }
}
