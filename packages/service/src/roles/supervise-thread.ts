/**
 * Keeps the summarizer running in a thread beside the deliveries: reading markup and comparing sentences takes up to
 * a tenth of a second in one piece, which deliveries must not wait for. The thread is not begun before there is something to be
 * summarized: it holds a quarter of a resting worker's memory.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { loggable } from '../kernel/loggable.ts'
import { periodic } from '../kernel/periodic.ts'
import type { Running } from './running.ts'
import type { SummarizerOrders } from './summarizer.ts'

export interface ThreadOrders extends SummarizerOrders {
  readonly logLevel: string
}

/** How often to look whether it is needed, in milliseconds: as often as the thread looks what there is to do. */
const lookEvery = 1_000
/** How long a stop waits for such a look, in milliseconds. */
const lookMayTake = 2_000
/** How long after its end a thread is replaced, in milliseconds. */
const replaceAfter = 500
/** A thread that was told to stop ends by itself before this, in milliseconds; one that hangs is ended. */
const stopMilliseconds = 13_500

/** The database, as the thread's supervisor needs it. */
export interface SummariesWaiting {
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
): Running {
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let thread: ReturnType<typeof start> | null = null
  const looking = periodic({
    every: lookEvery,
    stopWithin: lookMayTake,
    async run() {
      if (!(await isNeeded()) || stopping) return
      thread = start()
      looking.pause()
    },
    onFailure: (error) =>
      log.warn({ err: loggable(error) }, 'could not look whether a summary is to be written; trying again'),
  })
  looking.start()

  function start() {
    // The file beside this one: a source in the repository, JavaScript as published.
    const file = new URL(import.meta.url.replace(/supervise-thread(\.[jt]s)$/, 'summarizer-thread$1'))
    const workerData: ThreadOrders = { ...orders, logLevel: log.level }
    const worker = new Worker(file, { workerData })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.on('error', (error: Error) => log.error({ err: loggable(error) }, 'the summarizer failed'))
    worker.once('exit', (code) => {
      resolve()
      if (stopping) return
      log.error({ code }, 'the summarizer ended; it is replaced')
      giveBack().catch((error: Error) =>
        log.warn(
          { err: loggable(error) },
          'the leases of the summarizer that ended could not be given back; they will expire',
        ),
      )
      timer = setTimeout(() => {
        thread = start()
      }, replaceAfter)
    })
    return { worker, ended }
  }

  return {
    async stop() {
      stopping = true
      clearTimeout(timer)
      await looking.stop()
      if (thread === null) return
      const { worker, ended } = thread
      worker.postMessage('stop')
      const late = setTimeout(() => worker.terminate(), stopMilliseconds)
      await ended
      clearTimeout(late)
    },
  }
}
