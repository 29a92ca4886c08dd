/**
 * The offload thread. Large bodies are read, checked, committed and answered in it: JSON.parse of 16 MiB takes from 11 ms to 2 s in one piece,
 * by what they hold. Large responses are made in it: a page of 6 MB takes 30 ms from the database to the socket. The thread is an API of its
 * own (bulk-service.ts), started with the first such request and ended when none has come for a while. A few requests are in it at once; the
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

export interface BulkOrders {
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
  | { readonly ask: 'answer'; readonly number: number; readonly request: OffloadedRequest }
  | { readonly ask: 'metrics' }
  | { readonly ask: 'stop' }

/** What it tells. */
export type BulkTold =
  | ({ readonly told: 'answer'; readonly number: number } & OffloadedResponse)
  | { readonly told: 'failure'; readonly number: number; readonly message: string }
  | { readonly told: 'metrics'; readonly metrics: readonly MetricsSnapshot[] }

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
export const bulkAtOnce = limits.capacity / leastCost

function costOf({ body }: OffloadedRequest): number {
  return Math.min(Math.max(body.length, leastCost), limits.capacity / 2)
}

/** The thread's heap at most, in MB: what two of the largest bodies need, whatever they hold. */
const heapMegabytes = 320

/** How long a thread that has nothing to do is kept, in milliseconds. */
const keptMilliseconds = 60_000
/** How long it may take to tell its figures, and to stop, in milliseconds. */
const tellMilliseconds = 1_000
const stopMilliseconds = 5_000

interface Bulk extends Running {
  readonly offload: Offload
  /** Requests that wait to be let into the thread. */
  readonly waiting: () => number
  /** The thread's figures: none while there is no thread, or it does not answer in time. */
  metrics(): Promise<readonly MetricsSnapshot[]>
  /** Settles when the thread has answered what it was asked so far. */
  idle(): Promise<void>
}

interface Asked {
  readonly resolve: (response: OffloadedResponse) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<void>
  /** What it has not answered yet, by number. */
  readonly underWay: Map<number, Asked>
  readonly asked: ((snapshots: readonly MetricsSnapshot[]) => void)[]
}

/** Begins no thread yet. */
export function createBulk(orders: BulkOrders, log: Logger): Bulk {
  const queue = new FairQueue('offloaded', limits)
  let thread: Thread | null = null
  let idle: NodeJS.Timeout | undefined
  let numbers = 0
  const answering = new Set<Promise<unknown>>()

  function ask(request: OffloadedRequest): Promise<OffloadedResponse> {
    clearTimeout(idle)
    thread ??= startThread()
    const number = ++numbers
    const { promise, resolve, reject } = Promise.withResolvers<OffloadedResponse>()
    thread.underWay.set(number, { resolve, reject })
    const { body } = request
    const whole = body.byteLength === body.buffer.byteLength
    const ask: BulkAsk = { ask: 'answer', number, request }
    // Given away rather than copied, where the bytes have their memory to themselves.
    thread.worker.postMessage(ask, whole ? [body.buffer as ArrayBuffer] : [])
    return promise
  }

  function startThread(): Thread {
    // The file beside this one: a source in the repository, JavaScript as published.
    const file = new URL(import.meta.url.replace(/bulk(\.[jt]s)$/, 'bulk-thread$1'))
    const worker = new Worker(file, {
      workerData: orders,
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
      for (const { reject } of started.underWay.values()) reject(lost)
      started.underWay.clear()
    })
    return started
  }

  function notify(from: Thread, told: BulkTold): void {
    if (told.told === 'metrics') {
      from.asked.shift()?.(told.metrics)
      return
    }
    const asked = from.underWay.get(told.number)
    from.underWay.delete(told.number)
    if (told.told === 'failure') asked?.reject(new Error(told.message))
    else {
      const { status, headers, body } = told
      asked?.resolve({ status, headers, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) })
    }
    if (thread !== from || from.underWay.size > 0) return
    clearTimeout(idle)
    idle = setTimeout(() => void stop(), keptMilliseconds)
    idle.unref()
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
      const asked = thread
      if (asked === null) return Promise.resolve([])
      const { promise, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>()
      const late = setTimeout(() => resolve([]), tellMilliseconds)
      asked.asked.push(resolve)
      const ask: BulkAsk = { ask: 'metrics' }
      asked.worker.postMessage(ask)
      return promise.finally(() => clearTimeout(late))
    },
    idle: async () => void (await Promise.allSettled(answering)),
    stop,
  }
}
