/**
 * The offload thread parses, validates, commits and responds to large bodies, and creates large responses, as either
 * can block the event loop for up to seconds (decision 25). It runs an API of its own (offload-service.ts), starts with
 * the first such request, and ends when it has been idle for a minute. A few requests run in it at once; the others
 * wait in a fair queue, with their bodies unparsed.
 */
import type { Logger } from 'pino'
import { FairQueue } from '../admission/fair-queue.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import type { OffloadedRequest, OffloadedResponse } from '../http/offload.ts'
import type { StorageLimits } from '../journal/change.ts'
import { createCallThread } from '../kernel/call-thread.ts'
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

export type OffloadCall = OffloadedRequest | 'metrics'
export type OffloadAnswer = OffloadedResponse | readonly MetricsSnapshot[]

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

/** Starts no thread until the first request. */
export function createOffloadThread(options: OffloadOptions, log: Logger) {
  const queue = new FairQueue('offloaded', limits)
  const answering = new Set<Promise<unknown>>()
  const thread = createCallThread<OffloadCall, OffloadAnswer>(import.meta.url, 'offload-thread', {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 16 },
    idleAfter: idleMilliseconds,
    stopWithin: stopMilliseconds,
    onError: (error) => log.error({ err: loggable(error) }, 'the offload thread failed'),
  })

  async function ask(request: OffloadedRequest): Promise<OffloadedResponse> {
    const { body } = request
    const whole = body.byteLength === body.buffer.byteLength
    // Transferred instead of copied, when the body does not share its memory.
    const answer = await thread.call(request, whole ? [body.buffer as ArrayBuffer] : [])
    const response = answer as OffloadedResponse
    const bytes = response.body
    return { ...response, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
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
    async metrics(): Promise<readonly MetricsSnapshot[]> {
      const { promise: none, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>()
      const late = setTimeout(() => resolve([]), metricsMilliseconds)
      const asked = thread.peek('metrics') as Promise<readonly MetricsSnapshot[]> | null
      return Promise.race([asked ?? [], none])
        .catch(() => [])
        .finally(() => clearTimeout(late))
    },
    /** Settles when all requests so far have been answered. */
    idle: async () => void (await Promise.allSettled(answering)),
    stop: thread.stop,
  }
}
