/**
 * Runs the summarizer in a thread, as parsing markup and comparing sentences blocks the event loop for up to a tenth of
 * a second, and deliveries must not wait. The thread starts only when it is needed: it would add a third to an idle
 * worker's memory.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import { loggable } from '../kernel/log.ts'
import { periodic } from '../kernel/periodic.ts'
import type { SummarySettings } from '../summarizer/summarizer.ts'
import type { Running } from './listen.ts'

interface SummarizerOrders {
  readonly summaries: SummarySettings
  readonly maxAttempts: number
  /** The owner of its leases: the id of its worker. */
  readonly workerId: string
}

export interface ThreadOrders extends SummarizerOrders {
  readonly addresses: readonly DatabaseAddress[]
  readonly logLevel: string
}

/** A message after the thread's options: serve another database, or stop. */
export type SummarizerMessage = { readonly serve: DatabaseAddress } | 'stop'

export interface SupervisedSummarizer extends Running {
  serve(address: DatabaseAddress): void
}

const checkEvery = 1_000
const checkMayTake = 2_000
const replaceAfter = 500
const stopMilliseconds = 13_500
const stopWithin = stopMilliseconds + 500

interface SummariesWaiting {
  isNeeded(): Promise<boolean>
  /** Releases the leases of a thread that has ended. */
  releaseLeases(): Promise<unknown>
}

export function superviseSummarizer(
  orders: SummarizerOrders,
  log: Logger,
  { isNeeded, releaseLeases }: SummariesWaiting,
): SupervisedSummarizer {
  const addresses: DatabaseAddress[] = []
  let thread: Worker | null = null
  const looking = periodic({
    every: checkEvery,
    stopWithin: checkMayTake,
    async run(signal) {
      if (!(await isNeeded()) || signal.aborted) return
      looking.pause()
      threads.start()
    },
    onFailure: (error) =>
      log.warn({ err: loggable(error) }, 'could not look whether a summary is to be written; trying again'),
  })
  // A run lasts as long as a thread.
  const threads = periodic({
    every: replaceAfter,
    stopWithin,
    async run(signal) {
      thread = startThread({ ...orders, addresses, logLevel: log.level })
      const code = await untilEnded(thread, log, signal)
      thread = null
      if (signal.aborted) return
      log.error({ code }, 'the summarizer ended; it is replaced')
      // Before the next one starts: its leases have the same owner.
      await releaseLeases().catch((error: Error) =>
        log.warn(
          { err: loggable(error) },
          'the leases of the summarizer that ended could not be given back; they will expire',
        ),
      )
    },
    onFailure: (error) => log.error({ err: loggable(error) }, 'the summarizer could not be started'),
  })
  looking.start()
  return {
    serve(address) {
      addresses.push(address)
      thread?.postMessage({ serve: address } satisfies SummarizerMessage)
    },
    async stop() {
      await looking.stop()
      await threads.stop()
    },
  }
}

function startThread(workerData: ThreadOrders): Worker {
  // In the same folder: TypeScript in the repository, JavaScript as published.
  const file = new URL(import.meta.url.replace(/supervise-thread(\.[jt]s)$/, 'summarizer-thread$1'))
  return new Worker(file, { workerData })
}

async function untilEnded(worker: Worker, log: Logger, signal: AbortSignal): Promise<number> {
  const { promise: ended, resolve } = Promise.withResolvers<number>()
  worker.on('error', (error: Error) => log.error({ err: loggable(error) }, 'the summarizer failed'))
  worker.once('exit', resolve)
  let late: NodeJS.Timeout | undefined
  const stop = () => {
    worker.postMessage('stop' satisfies SummarizerMessage)
    late = setTimeout(() => worker.terminate(), stopMilliseconds)
  }
  signal.addEventListener('abort', stop, { once: true })
  const code = await ended
  clearTimeout(late)
  signal.removeEventListener('abort', stop)
  return code
}
