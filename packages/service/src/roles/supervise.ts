/** Keeps a worker process running beside this one: one that ends is replaced, and what it held is found again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../deliveries.ts'
import { loggable } from '../kernel/loggable.ts'
import type { MetricsSnapshot } from '../metrics/registry.ts'
import type { SummarySettings } from '../summaries.ts'
import type { Running } from './running.ts'

/** What a worker process is told, over a channel that nobody else can read. */
export interface WorkerOrders {
  readonly address: DatabaseAddress
  readonly settings: DeliverySettings
  readonly summaries: SummarySettings | null
  readonly logLevel: string
}

/** What it tells when it is asked for its figures. */
export interface WorkerReport {
  readonly metrics: MetricsSnapshot
}

export interface Supervised extends Running {
  /** The worker's figures: none when there is no worker, or it does not answer in time. */
  metrics(): Promise<readonly MetricsSnapshot[]>
}

/** How long a worker may take to tell its figures, in milliseconds. */
const tellMilliseconds = 1_000

/** How long after its end a worker is replaced, in milliseconds. */
const replaceAfter = 500

/** A worker that was told to stop ends by itself before this, in milliseconds; one that hangs is ended. */
const stopMilliseconds = 15_000

interface WorkerProcess {
  readonly child: ChildProcess
  /** Resolves when no such process runs any more, or never did. Never rejects. */
  readonly ended: Promise<void>
}

/** Starts a worker process and replaces it whenever it ends by itself, or cannot be started at all. */
export function superviseWorker(orders: WorkerOrders, log: Logger): Supervised {
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let worker = start()

  function start(): WorkerProcess {
    const child = forkWorker()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // Without a listener, an error of this process about that one would end this one.
    child.on('error', (error) => {
      log.error({ pid: child.pid, err: loggable(error) }, 'the worker process failed')
      // Never started, for want of memory or of file descriptors: no exit follows.
      if (child.pid === undefined) replace({})
    })
    child.once('exit', (code, signal) => replace({ pid: child.pid, code, signal }))
    if (child.pid !== undefined) {
      log.info({ pid: child.pid }, 'the worker was started')
      child.send(orders, (error) => {
        // A worker without orders would wait for ever. One that has ended says so itself.
        if (error !== null) child.kill('SIGKILL')
      })
    }
    return { child, ended }

    function replace(how: object): void {
      resolve()
      if (stopping) return
      log.error(how, 'the worker ended; it is replaced')
      timer = setTimeout(() => {
        worker = start()
      }, replaceAfter)
    }
  }

  return {
    metrics: () => askForMetrics(worker.child),
    async stop() {
      stopping = true
      clearTimeout(timer)
      const { child, ended } = worker
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
      await ended
      clearTimeout(late)
    },
  }
}

async function askForMetrics(child: ChildProcess): Promise<readonly MetricsSnapshot[]> {
  if (!child.connected) return []
  try {
    const answered = once(child, 'message', { signal: AbortSignal.timeout(tellMilliseconds) })
    child.send({ tell: 'metrics' }, () => {})
    const [{ metrics }] = (await answered) as [WorkerReport]
    return [metrics]
  } catch {
    return []
  }
}

function forkWorker(): ChildProcess {
  // The file beside this one: a source in the repository, JavaScript as published.
  const file = new URL(import.meta.url.replace(/supervise(\.[jt]s)$/, 'worker-process$1'))
  const compiled = getCompileCacheDir()
  return fork(file, {
    serialization: 'advanced',
    // What this process keeps of compiling, its worker uses too; the directory's last part is Node's own.
    ...(compiled === undefined ? {} : { env: { ...process.env, NODE_COMPILE_CACHE: dirname(compiled) } }),
  })
}
