/**
 * Keeps the summarizer running in a thread beside the deliveries: reading markup and comparing sentences takes up to
 * a tenth of a second in one piece, which deliveries must not wait for. The thread is not begun before there is something to be
 * summarized: it holds a quarter of a resting worker's memory.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import { loggable } from '../kernel/loggable.ts'
import { periodic } from '../kernel/periodic.ts'
import type { Running } from './running.ts'
import type { SummarizerOrders } from './summarizer.ts'

export interface ThreadOrders extends SummarizerOrders {
  readonly addresses: readonly DatabaseAddress[]
  readonly logLevel: string
}

/** What a thread is told after its orders: to serve another database, or to stop. */
export type SummarizerMessage = { readonly serve: DatabaseAddress } | 'stop'

export interface SupervisedSummarizer extends Running {
  /** Another database has summaries to be written. */
  serve(address: DatabaseAddress): void
}

/** How often to look whether it is needed, in milliseconds: as often as the thread looks what there is to do. */
const lookEvery = 1_000
/** How long a stop waits for such a look, in milliseconds. */
const lookMayTake = 2_000
/** How long after its end a thread is replaced, in milliseconds. */
const replaceAfter = 500
/** A thread that was told to stop ends by itself before this, in milliseconds; one that hangs is ended. */
const stopMilliseconds = 13_500
/** How long a stop takes at most, in milliseconds. */
const stopWithin = stopMilliseconds + 500

/** The database, as the thread's supervisor needs it. */
interface SummariesWaiting {
  /** Whether there is, or has been, anything to do. */
  isNeeded(): Promise<boolean>
  /** Gives back what a thread held that has ended. */
  giveBack(): Promise<unknown>
}

/** Starts the thread once it is needed, and replaces it whenever it ends by itself. */
export function superviseSummarizer(
  orders: SummarizerOrders,
  log: Logger,
  { isNeeded, giveBack }: SummariesWaiting,
): SupervisedSummarizer {
  const addresses: DatabaseAddress[] = []
  let thread: Worker | null = null
  const looking = periodic({
    every: lookEvery,
    stopWithin: lookMayTake,
    async run(signal) {
      if (!(await isNeeded()) || signal.aborted) return
      looking.pause()
      threads.start()
    },
    onFailure: (error) =>
      log.warn({ err: loggable(error) }, 'could not look whether a summary is to be written; trying again'),
  })
  // A run is the life of a thread.
  const threads = periodic({
    every: replaceAfter,
    stopWithin,
    async run(signal) {
      thread = startThread({ ...orders, addresses, logLevel: log.level })
      const code = await untilEnded(thread, log, signal)
      thread = null
      if (signal.aborted) return
      log.error({ code }, 'the summarizer ended; it is replaced')
      // Before the next one begins: its leases have the same owner.
      await giveBack().catch((error: Error) =>
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

/** @throws when it cannot be started. */
function startThread(workerData: ThreadOrders): Worker {
  // The file beside this one: a source in the repository, JavaScript as published.
  const file = new URL(import.meta.url.replace(/supervise-thread(\.[jt]s)$/, 'summarizer-thread$1'))
  return new Worker(file, { workerData })
}

/** Resolves with the code that the thread ends with: by itself, or soon after the signal. */
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
