/**
 * Keeps the summarizer running in a thread beside the deliveries: reading markup and comparing sentences takes up to
 * a tenth of a second in one piece, which deliveries must not wait for.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { loggable } from '../kernel/loggable.ts'
import type { Running } from './running.ts'
import type { SummarizerOrders } from './summarizer.ts'

export interface ThreadOrders extends SummarizerOrders {
  readonly logLevel: string
}

/** How long after its end a thread is replaced, in milliseconds. */
const replaceAfter = 500
/** A thread that was told to stop ends by itself before this, in milliseconds; one that hangs is ended. */
const stopMilliseconds = 13_500

/** Starts the thread, and replaces it whenever it ends by itself; `giveBack` is asked to give back what it held then. */
export function superviseSummarizer(
  orders: SummarizerOrders,
  log: Logger,
  giveBack: () => Promise<unknown>,
): Running {
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let thread = start()

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
      const { worker, ended } = thread
      worker.postMessage('stop')
      const late = setTimeout(() => worker.terminate(), stopMilliseconds)
      await ended
      clearTimeout(late)
    },
  }
}
