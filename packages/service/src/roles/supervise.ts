/**
 * Keeps a worker process running beside this one: one that ends is replaced, after longer and longer while it does not stay up,
 * and what it held is given back.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import type { DueQueues } from '../journal/notifier.ts'
import { loggable } from '../kernel/loggable.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { MetricsSnapshot } from '../metrics/registry.ts'
import type { SummarySettings } from '../summarizer/summarizer.ts'
import type { ServedDatabase } from './prepare.ts'
import type { Running } from './running.ts'

/** What a worker process is told, over a channel that nobody else can read. */
export interface WorkerOrders {
  /** The directory's first, with names where there are several. */
  readonly databases: readonly { readonly name: string | null; readonly address: DatabaseAddress }[]
  readonly settings: DeliverySettings
  readonly summaries: SummarySettings | null
  /** The owner of its leases. */
  readonly workerId: string
  readonly logLevel: string
}

/**
 * What it is told after its orders: that the database with this place among several can be used, to tell its figures, or what is due in
 * such a database.
 */
export type WorkerMessage =
  | { readonly serve: number }
  | { readonly tell: 'metrics' }
  | { readonly due: DueQueues; readonly place: number }

/** What it tells: of each database once that it takes what is due there, and its figures when it is asked for them. */
export type WorkerReport = { readonly ready: number } | { readonly metrics: readonly MetricsSnapshot[] }

export interface Supervised extends Running {
  /** The worker's figures: none when there is no worker, or it does not answer in time. */
  metrics(): Promise<readonly MetricsSnapshot[]>
  /** Tells the worker which queues are due in this database, and returns its id; null when there is none that can be told. */
  tell(due: DueQueues, place: number): string | null
  /** A sentence on why nothing is delivered, while the worker does not stay up; null while it does. */
  trouble(): string | null
}

/** How long a worker may take to tell its figures, in milliseconds. */
const tellMilliseconds = 1_000

/** A worker that was told to stop ends by itself before this, in milliseconds; one that hangs is ended. */
const stopMilliseconds = 15_000

/** Queues that may be on their way to a worker. One that has more to read is busy, and searches for the rest. */
const toldAtOnce = 10_000

/** How long giving back may hold up a stop, in milliseconds. */
const giveBackMilliseconds = 2_000

interface WorkerProcess extends Pick<Supervised, 'tell'> {
  readonly child: ChildProcess
  /** Resolves when no such process runs any more, or never did, and what it held is given back. Never rejects. */
  readonly ended: Promise<void>
  /** Milliseconds; 0 when it does not run. */
  ranFor(): number
}

/**
 * Starts a worker process and replaces it whenever it ends by itself, or cannot be started at all. `giveBack` gives back the
 * leases of a worker that certainly runs no more, and answers how many there were.
 */
export function superviseWorker(
  orders: Omit<WorkerOrders, 'workerId' | 'databases'>,
  databases: readonly Pick<ServedDatabase, 'name' | 'address' | 'ready'>[],
  {
    log,
    clock,
    giveBack,
  }: {
    readonly log: Logger
    readonly clock: Clock
    readonly giveBack: (workerId: string) => Promise<number>
  },
): Supervised {
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
    // Without a listener, an error of this process about that one would end this one.
    child.on('error', (error) => {
      log.error({ pid: child.pid, err: loggable(error) }, 'the worker process failed')
      // Never started, for want of memory or of file descriptors: no exit follows.
      if (child.pid === undefined) replace({})
    })
    child.once('exit', (code, signal) => replace({ pid: child.pid, code, signal }))
    if (child.pid !== undefined) {
      log.info({ pid: child.pid }, 'the worker was started')
      const known = databases.map(({ name, address }) => ({ name, address }))
      child.send({ ...orders, databases: known, workerId } satisfies WorkerOrders, (error) => {
        // A worker without orders would wait for ever. One that has ended says so itself.
        if (error !== null) child.kill('SIGKILL')
      })
      for (const [place, { ready }] of databases.entries()) {
        void ready.then(() => {
          if (child.connected) child.send({ serve: place } satisfies WorkerMessage, () => {})
        })
      }
    }
    return {
      child,
      ended,
      ranFor,
      tell(due, place) {
        if (!ready.has(place) || !child.connected || onTheirWay >= toldAtOnce) return null
        onTheirWay += due.queues.length
        // A worker that ends before it reads this leaves the queues due: its successor finds them.
        child.send({ due, place } satisfies WorkerMessage, () => {
          onTheirWay -= due.queues.length
        })
        return workerId
      },
    }

    function replace(how: object): void {
      // One that was stopped has given back what it held, unless it was ended.
      returnLeases(workerId).then(resolve)
      if (stopping) return
      ends = endsInARow(ends, clock.now() - startedAt)
      const wait = startsAgainAfter(ends)
      log.error({ ...how, ends, wait }, 'the worker process ended; it will be replaced')
      timer = setTimeout(() => {
        // What it had asked the database for when it died may have been done since.
        void returnLeases(workerId)
        worker = start()
      }, wait)
    }
  }

  /** Never rejects, and is not waited for longer than the database may take: leases that are left run out. */
  async function returnLeases(workerId: string): Promise<void> {
    const late = new AbortController()
    const given = giveBack(workerId).then(
      (leases) => {
        if (leases > 0) log.warn({ leases }, 'what the worker held was given back')
      },
      (error: Error) =>
        log.warn(
          { err: loggable(error) },
          'the leases of the worker that ended could not be given back; they will expire',
        ),
    )
    const limit = delay(giveBackMilliseconds, undefined, { signal: late.signal }).catch(() => {})
    await Promise.race([given, limit])
    late.abort()
  }

  return {
    metrics: () => askForMetrics(worker.child),
    tell: (due, place) => (stopping ? null : worker.tell(due, place)),
    trouble: () => troubleOf(ends, worker.ranFor()),
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
    const answers = on(child, 'message', { signal: AbortSignal.timeout(tellMilliseconds) })
    child.send({ tell: 'metrics' } satisfies WorkerMessage, () => {})
    for await (const [report] of answers as AsyncIterable<[WorkerReport]>) {
      if ('metrics' in report) return report.metrics
    }
    return []
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

/** A worker that ran for so long was well, in milliseconds. */
export const healthyAfter = 60_000
/** How long after its first end in a row a worker is replaced, and how long at most, in milliseconds. */
const shortest = 500
const longest = 30_000
/** Ends in a row after which it is said that the worker does not stay up. */
const worthTelling = 3

/** Ends in a row, none of them after a healthy minute, once one more came after `ranFor` milliseconds. */
export function endsInARow(before: number, ranFor: number): number {
  return ranFor >= healthyAfter ? 1 : before + 1
}

/** Milliseconds until it is started again: half a second, twice as long after each, half a minute at most. */
export function startsAgainAfter(ends: number): number {
  return Math.min(shortest * 2 ** (ends - 1), longest)
}

/** What `/readyz` says of a worker that does not stay up; null of one that does. `ranFor`: the one that runs now, or 0. */
export function troubleOf(ends: number, ranFor: number): string | null {
  if (ends < worthTelling || ranFor >= healthyAfter) return null
  return `The worker ended ${ends} times in a row: deliveries and summaries wait. The log says why.`
}
