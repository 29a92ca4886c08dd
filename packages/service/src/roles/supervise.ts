/** Keeps a worker process running beside this one: one that ends is replaced, and what it held is found again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../deliveries.ts'
import type { Running } from './running.ts'

/** What a worker process is told, over a channel that nobody else can read. */
export interface WorkerOrders {
  readonly address: DatabaseAddress
  readonly settings: DeliverySettings
  readonly logLevel: string
}

/** How long after its end a worker is replaced, in milliseconds. */
const replaceAfter = 500

/** Starts a worker process and replaces it whenever it ends by itself. */
export function superviseWorker(orders: WorkerOrders, log: Logger): Running {
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let child = start()

  function start(): ChildProcess {
    // The file beside this one: a source in the repository, JavaScript as published.
    const file = new URL(import.meta.url.replace(/supervise(\.[jt]s)$/, 'worker-process$1'))
    const started = fork(file, { serialization: 'advanced' })
    started.send(orders)
    log.info({ pid: started.pid }, 'the worker was started')
    started.once('exit', (code, signal) => {
      if (stopping) return
      log.error({ pid: started.pid, code, signal }, 'the worker ended; it is replaced')
      timer = setTimeout(() => {
        child = start()
      }, replaceAfter)
    })
    return started
  }

  return {
    async stop() {
      stopping = true
      clearTimeout(timer)
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
