/**
 * Finds endpoint queues with due deliveries and drains them, many at once. Notifications are hints, so it also searches
 * twice a second.
 */
import { randomUUID } from 'node:crypto'
import { createRateLimiter, type RateLimiter } from '../../admission/rate-limit.ts'
import { loggable, thinned } from '../../kernel/log.ts'
import { atMost, periodic } from '../../kernel/periodic.ts'
import { createKeyedQueue, type KeyedQueue } from '../../kernel/shared-work.ts'
import { stopwatch } from '../../kernel/timestamps.ts'
import { type Claim, type DueQueue, keyOf, type Priority, priorities } from '../model.ts'
import { type ConcurrencyTuning, deliveryTuning, leaseOf } from '../tuning.ts'
import { ConcurrencyLimiter, type EndpointLimits } from './concurrency.ts'
import { createDisablePolicy } from './disable-policy.ts'
import { Drain, type DrainEnd, type DrainServices, Shutdown, type WorkerServices } from './drain.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import { createSweeper } from './sweep.ts'

const { foundAtOnce, searchesApart, pollEvery, betweenStarts, attemptsMayTake, completingMayTake } =
  deliveryTuning.engine

export interface Engine {
  /**
   * Searches at once, or at that time (milliseconds since the Unix epoch) if this worker's clock is behind the
   * writer's.
   */
  wake(at?: number): void
  /**
   * These queues have been due since that time: drains the responsive ones without a search, and searches for the
   * others. Those that another worker holds are left to it.
   */
  drain(queues: readonly DueQueue[], at: number): void
  /** Anything may be due: searches at that time, and wakes all drains. */
  wakeAll(at?: number): void
  /** Whether notifications reach the worker: a drain keeps its lease for a while only then. Default: no. */
  hears: boolean
  /**
   * The connection to the database was lost: takes up the queues that it holds, as their drains may have failed or
   * their ends been undone.
   */
  resume(): void
  start(): void
  /**
   * Begins no more attempts, and waits for responses and then for the database, each for a limited time
   * (`tuning.ts`). Deliveries without a response stay due.
   */
  stop(): Promise<void>
  readonly inFlight: number
  /** Nothing is under way or about to begin. */
  readonly isIdle: boolean
}

interface RunningDrain {
  readonly drain: Drain
  readonly ended: Promise<DrainEnd>
}

export function createEngine(
  services: DrainServices,
  options: {
    /** The owner of the leases; a supervisor releases them by it when the worker dies. */
    readonly workerId?: string
    /**
     * Other connections for unproven and unresponsive endpoints, so that responsive ones do not wait for a connection
     * behind them.
     */
    readonly otherQueues?: EndpointQueues
    /** Runs one call at a time of those that take an organization's clock row. */
    readonly exclusiveTasks?: KeyedQueue
    readonly limiter?: ConcurrencyLimiter
    readonly concurrency?: ConcurrencyTuning
  } = {},
): Engine {
  const { queues, clock, log } = services
  const {
    workerId = randomUUID(),
    otherQueues = queues,
    exclusiveTasks = createKeyedQueue(),
    concurrency = deliveryTuning.concurrency,
    limiter = new ConcurrencyLimiter(concurrency),
  } = options
  const stopWithin = attemptsMayTake + completingMayTake
  const shutdown = new Shutdown()
  const disablePolicy = createDisablePolicy({
    ...services,
    queues: otherQueues,
    exclusiveTasks,
    onDisabled() {
      searching.wake()
      services.onHealth()
    },
  })
  /** By attempts a second: the endpoints that ask for as many share one, each under its own name. */
  const rates = new Map<number, RateLimiter>()
  const leaseLasts = leaseOf(services.schedule)
  const workerServices: WorkerServices = {
    workerId,
    leaseLasts,
    limiter,
    disablePolicy,
    shutdown,
    limitsOf,
    rests: () => engine.hears,
  }
  const running = new Map<string, RunningDrain>()
  const searching = periodic({
    every: pollEvery,
    apart: searchesApart,
    stopWithin,
    run: async () => {
      if (mayHoldMore) await takeUpHeld()
      await search()
    },
    onFailure(error) {
      mayHoldMore = true
      warn(log, { err: loggable(error) }, 'could not search for due deliveries; trying again')
    },
  })
  const { tickEvery } = concurrency
  const ticking = periodic({
    every: tickEvery,
    stopWithin: 0,
    run() {
      for (const { drain } of running.values()) drain.tick()
    },
    onFailure: (error) => log.warn({ err: loggable(error) }, 'drains missed a tick'),
  })
  const sweeper = createSweeper(services, { stopWithin, onDeliveries: searching.wake })
  /** Queues may be leased to this worker without a drain. */
  let mayHoldMore = false
  const warn = thinned()
  /** Queues may be waiting for permits. */
  let behind = false
  const paces: Readonly<Partial<Record<Priority, Pace>>> = {
    unproven: new Pace(betweenStarts.unproven, searching.wake),
    unresponsive: new Pace(betweenStarts.unresponsive, searching.wake),
  }

  const engine: Engine = {
    hears: false,
    wake: (at = 0) => when(at, searching.wake),
    wakeAll: (at = 0) => when(at, wakeAll),
    drain: (due, at) => when(at, () => drainMore(due)),
    resume() {
      mayHoldMore = true
      wakeAll()
    },
    start() {
      searching.start()
      sweeper.start()
    },
    stop,
    get inFlight() {
      return limiter.inUse
    },
    get isIdle() {
      const isSearching = searching.status !== 'idle' || !sweeper.isIdle
      return !isSearching && running.size === 0 && Object.values(paces).every((pace) => pace.isIdle)
    },
  }
  return engine

  function limitsOf(claim: Claim): EndpointLimits {
    const { organizationId, endpoint } = claim
    const host = `${organizationId} ${hostIn(endpoint.url)}`
    const { rateLimit, maxConcurrent = null } = endpoint.options ?? {}
    if (rateLimit === undefined) return { host, most: maxConcurrent, rate: null }
    const limiter = rates.get(rateLimit) ?? createRateLimiter(evenly(rateLimit, tickEvery), clock)
    rates.set(rateLimit, limiter)
    return { host, most: maxConcurrent, rate: { limiter, name: keyOf(claim) } }
  }

  function wakeAll(): void {
    for (const { drain } of running.values()) drain.wake()
    searching.wake()
  }

  /** Acts at once, or at that time by this worker's clock; later times are left to the next search. */
  function when(at: number, act: () => void): void {
    const early = at - clock.now()
    if (early <= 0) act()
    else if (early < pollEvery) setTimeout(act, early).unref()
  }

  /**
   * Only responsive queues begin without a search: a notification puts no other queue ahead of those of its priority.
   */
  function drainMore(due: readonly DueQueue[]): void {
    let search = false
    for (const queue of due) {
      const known = running.get(keyOf(queue))
      known?.drain.wakeForCommit()
      if (known !== undefined || (queue.worker ?? workerId) !== workerId) continue
      if (behind || queue.priority !== 'responsive' || !launch(queue)) search = true
    }
    if (search) searching.wake()
  }

  async function takeUpHeld(): Promise<void> {
    mayHoldMore = false
    try {
      for (const queue of await queues.findHeld(workerId)) {
        if (!running.has(keyOf(queue)) && !launch(queue)) mayHoldMore = true
      }
    } catch (error) {
      mayHoldMore = true
      throw error
    }
  }

  async function search(): Promise<void> {
    const now = clock.now()
    sweeper.noticed(now)
    const withPermits = priorities.filter((priority) => limiter.hasFreePermit(priority))
    const open = withPermits.filter((priority) => paces[priority]?.ask() !== false)
    const due = open.length === 0 ? [] : await queues.findDue(workerId, now, open)
    let begun = 0
    const beginOf = (queue: DueQueue) => {
      if (begin(queue)) begun++
    }
    behind = withPermits.length < priorities.length
    const foundOf = Map.groupBy(due, ({ priority }) => priority)
    const isFull = open.some((priority) => foundOf.get(priority)?.length === foundAtOnce[priority])
    let paced = 0
    for (const priority of open) {
      const found = foundOf.get(priority) ?? []
      const pace = paces[priority]
      if (pace === undefined) found.forEach(beginOf)
      else {
        pace.begin(found, beginOf)
        paced += found.length
      }
    }
    if (isFull && (begun > 0 || paced > 1)) searching.wake()
  }

  /** Returns whether a drain began. */
  function begin(queue: DueQueue): boolean {
    const known = running.get(keyOf(queue))
    if (known !== undefined) {
      known.drain.wake()
      return false
    }
    const began = launch(queue)
    if (!began) behind = true
    return began
  }

  /** Returns false if the worker stops or has no permit for the queue. */
  function launch(queue: DueQueue): boolean {
    const own = shutdown.isRequested ? null : limiter.open(queue.priority)
    if (own === null) return false
    const servedBy = queue.priority === 'responsive' ? queues : otherQueues
    const drain = new Drain({ ...services, queues: servedBy }, workerServices, queue, own)
    const ended = drain
      .run()
      .catch((error: Error) => {
        const { organizationId, webhookId } = queue
        warn(log, { organizationId, webhookId, err: loggable(error) }, 'a drain failed')
        return { more: false, lost: true }
      })
      .finally(() => {
        running.delete(keyOf(queue))
        if (running.size === 0) ticking.pause()
      })
    if (running.size === 0) ticking.start()
    running.set(keyOf(queue), { drain, ended })
    void ended.then(({ more, lost }) => {
      if (lost) mayHoldMore = true
      // A proven endpoint goes on at once; any other is found by the next search, by its priority.
      if (more && own.isProven) drainMore([{ ...queue, priority: own.priority }])
      else if (more || behind) searching.wake()
    })
    return true
  }

  async function stop(): Promise<void> {
    shutdown.request()
    for (const { drain } of running.values()) drain.stop()
    disablePolicy.stop()
    for (const pace of Object.values(paces)) pace.stop()
    const drains = () => Promise.all([...running.values()].map(({ ended }) => ended))
    const ended = Promise.all([sweeper.stop(), searching.stop().then(drains)])
    await atMost(attemptsMayTake, ended)
    shutdown.cut()
    await atMost(completingMayTake, ended)
    await ticking.stop()
  }
}

/**
 * Begins queues one after another, as each may need a handshake that holds up others, and lets no search run meanwhile.
 */
class Pace {
  readonly #betweenStarts: number
  readonly #onOpen: () => void
  readonly #elapsed = stopwatch()
  #closedUntil = 0
  #timer: NodeJS.Timeout | null = null

  /** `betweenStarts`: milliseconds. `onOpen` is called when searching is allowed again, if `ask` refused it. */
  constructor(betweenStarts: number, onOpen: () => void) {
    this.#betweenStarts = betweenStarts
    this.#onOpen = onOpen
  }

  /** Whether more may be searched for now. */
  ask(): boolean {
    const wait = this.#closedUntil - this.#elapsed()
    if (wait <= 0) return true
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#onOpen()
    }, wait)
    return false
  }

  /** All that was found has begun, and no call of `onOpen` is to come. */
  get isIdle(): boolean {
    return this.#timer === null && this.#elapsed() >= this.#closedUntil
  }

  /** To be called with what a search found, even if that is nothing. */
  begin(found: readonly DueQueue[], begin: (queue: DueQueue) => void): void {
    const betweenStarts = this.#betweenStarts
    this.#closedUntil = this.#elapsed() + found.length * betweenStarts
    found.forEach((queue, n) => {
      if (n === 0) begin(queue)
      else setTimeout(begin, n * betweenStarts, queue)
    })
  }

  /** No more calls of `onOpen`. Queues that were found still begin. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}

/** Of a URL that was accepted. */
function hostIn(url: string): string {
  return (/^https:\/\/([^/?]+)/i.exec(url)?.[1] ?? url).toLowerCase()
}

/** Spread over the second: at once only as many as come due between two looks at the drains. */
function evenly(perSecond: number, tickEvery: number) {
  return { perSecond, burst: Math.max(1, Math.ceil((perSecond * Math.min(tickEvery, 1_000)) / 1_000)) }
}
