/** Runs a worker process and replaces it when it ends, with growing delays. Releases the leases of an ended worker. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { remedyFor } from '@deskwire/embedded-postgres'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import type { DueQueues } from '../journal/notifier.ts'
import { loggable } from '../kernel/log.ts'
import { atMost } from '../kernel/periodic.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { MetricsSnapshot } from '../metrics/registry.ts'
import type { SummarySettings } from '../summarizer/summarizer.ts'
import type { ServedDatabase } from './prepare.ts'

export interface WorkerOrders {
  /** First the one with the directory; with names when there are several. */
  readonly databases: readonly { readonly name: string | null; readonly address: DatabaseAddress }[]
  readonly settings: DeliverySettings
  readonly summaries: SummarySettings | null
  readonly workerId: string
  readonly logLevel: string
}

/**
 * A message to the worker after its options: a database (by index) is ready, return your metrics, or these queues are
 * due.
 */
export type WorkerMessage =
  | { readonly serve: number }
  | { readonly ask: 'metrics' }
  | { readonly due: DueQueues; readonly index: number }

/** A message from the worker: it serves this database now, or its metrics. */
export type WorkerReport = { readonly ready: number } | { readonly metrics: readonly MetricsSnapshot[] }

const metricsMilliseconds = 1_000

const stopMilliseconds = 15_000

/** Queues in unread messages. A worker with more to read is busy, and finds the others by searching. */
const unreadAtMost = 10_000

const releaseMilliseconds = 2_000

interface WorkerProcess {
  readonly child: ChildProcess
  /** Resolves when the process has ended, or never started, and its leases are released. Never rejects. */
  readonly ended: Promise<void>
  ranFor(): number
  /** Notifies it of due queues in the database with this index, and returns its id; null when it cannot be notified. */
  notify(due: DueQueues, index: number): string | null
}

export type Supervised = ReturnType<typeof superviseWorker>

/** `releaseLeases` releases the leases of an ended worker and returns their number. */
export function superviseWorker(
  orders: Omit<WorkerOrders, 'workerId' | 'databases'>,
  databases: readonly Pick<ServedDatabase, 'name' | 'address' | 'ready'>[],
  {
    log,
    clock,
    releaseLeases,
  }: {
    readonly log: Logger
    readonly clock: Clock
    readonly releaseLeases: (workerId: string) => Promise<number>
  },
) {
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let ends = 0
  let worker = start()

  function start(): WorkerProcess {
    const workerId = randomUUID()
    const startedAt = clock.now()
    const child = forkWorker()
    const ranFor = () => (child.exitCode === null && child.signalCode === null ? clock.now() - startedAt : 0)
    const ready = new Set<number>()
    let onTheirWay = 0
    child.on('message', (report: WorkerReport) => {
      if ('ready' in report) ready.add(report.ready)
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // Without a listener, an error event of the child would end this process.
    child.on('error', (error) => {
      const remedy = remedyFor(error.message)
      log.error(
        { pid: child.pid, err: loggable(error) },
        `the worker process failed${remedy === null ? '' : `: ${remedy}`}`,
      )
      // Never started, for lack of memory or file descriptors: no exit event follows.
      if (child.pid === undefined) replace({})
    })
    child.once('exit', (code, signal) => replace({ pid: child.pid, code, signal }))
    if (child.pid !== undefined) {
      log.info({ pid: child.pid }, 'the worker was started')
      const known = databases.map(({ name, address }) => ({ name, address }))
      child.send({ ...orders, databases: known, workerId } satisfies WorkerOrders, (error) => {
        // A worker without options would wait forever. One that has ended emits its own event.
        if (error !== null) child.kill('SIGKILL')
      })
      for (const [index, { ready }] of databases.entries()) {
        void ready.then(() => {
          if (child.connected) child.send({ serve: index } satisfies WorkerMessage, () => {})
        })
      }
    }
    return {
      child,
      ended,
      ranFor,
      notify(due, index) {
        if (!ready.has(index) || !child.connected || onTheirWay >= unreadAtMost) return null
        onTheirWay += due.queues.length
        // If the worker ends before it reads this, the queues stay due, and its successor finds them.
        child.send({ due, index } satisfies WorkerMessage, () => {
          onTheirWay -= due.queues.length
        })
        return workerId
      },
    }

    function replace(how: object): void {
      // A worker that was stopped has released its leases, unless it was killed.
      releaseLeasesOf(workerId).then(resolve)
      if (stopping) return
      ends = endsInARow(ends, clock.now() - startedAt)
      const wait = startsAgainAfter(ends)
      log.error({ ...how, ends, wait }, 'the worker process ended; it will be replaced')
      timer = setTimeout(() => {
        // Statements that it had sent may have been executed after its end.
        void releaseLeasesOf(workerId)
        worker = start()
      }, wait)
    }
  }

  /** Never rejects. Waits for a limited time only: other leases expire. */
  async function releaseLeasesOf(workerId: string): Promise<void> {
    const given = releaseLeases(workerId).then(
      (leases) => {
        if (leases > 0) log.warn({ leases }, 'released the queues that the worker held')
      },
      (error: Error) =>
        log.warn(
          { err: loggable(error) },
          'the leases of the worker that ended could not be released; they will expire',
        ),
    )
    await atMost(releaseMilliseconds, given)
  }

  return {
    /** The worker's metrics: empty without a worker, or when it does not respond in time. */
    metrics: () => requestMetrics(worker.child),
    notify: (due: DueQueues, index: number) => (stopping ? null : worker.notify(due, index)),
    trouble: () => troubleOf(ends, worker.ranFor()),
    async stop(): Promise<void> {
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

async function requestMetrics(child: ChildProcess): Promise<readonly MetricsSnapshot[]> {
  if (!child.connected) return []
  try {
    const answers = on(child, 'message', { signal: AbortSignal.timeout(metricsMilliseconds) })
    child.send({ ask: 'metrics' } satisfies WorkerMessage, () => {})
    for await (const [report] of answers as AsyncIterable<[WorkerReport]>) {
      if ('metrics' in report) return report.metrics
    }
    return []
  } catch {
    return []
  }
}

function forkWorker(): ChildProcess {
  // In the same folder: TypeScript in the repository, JavaScript as published.
  const file = new URL(import.meta.url.replace(/supervise(\.[jt]s)$/, 'worker-process$1'))
  const compiled = getCompileCacheDir()
  return fork(file, {
    serialization: 'advanced',
    // The worker shares this process's compile cache; Node adds the last part of the directory itself.
    env: {
      NODE_USE_SYSTEM_CA: '1',
      ...process.env,
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }),
    },
  })
}

export const healthyAfter = 60_000
/** Delay before the first restart in a row, and the longest, in milliseconds. */
const shortest = 500
const longest = 30_000
/** Ends in a row after which the worker is reported as failing. */
const reportedAfter = 3

/** Ends in a row, after another one that came `ranFor` milliseconds after the start; a healthy run resets it. */
export function endsInARow(before: number, ranFor: number): number {
  return ranFor >= healthyAfter ? 1 : before + 1
}

/** Milliseconds until the next start: half a second, doubled after each end, at most half a minute. */
export function startsAgainAfter(ends: number): number {
  return Math.min(shortest * 2 ** (ends - 1), longest)
}

/**
 * The reason in `/readyz` while the worker does not stay up; null while it does. `ranFor`: of the running worker, or 0.
 */
export function troubleOf(ends: number, ranFor: number): string | null {
  if (ends < reportedAfter || ranFor >= healthyAfter) return null
  return `The worker ended ${ends} times in a row: deliveries and summaries wait. The log says why.`
}
