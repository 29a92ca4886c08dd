/**
 * The engine: finds endpoint queues with something due and drains them, many at once, each by itself. It is woken right after a
 * commit, and looks besides: a notification is a hint, the table is the truth.
 */
import { randomUUID } from 'node:crypto'
import { createKeyedQueue, type KeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import { atMost, periodic } from '../kernel/periodic.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import { ConcurrencyLimiter } from './concurrency.ts'
import { createDisablePolicy } from './disable-policy.ts'
import { Drain, type DrainEnd, type DrainServices, Shutdown, type WorkerServices } from './drain.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import { type DueQueue, keyOf, type PriorityClass, priorityClasses } from './model.ts'
import { Pace } from './pace.ts'
import { createSweeper } from './sweep.ts'
import { type DeliveryTuning, deliveryTuning } from './tuning.ts'

export interface Engine {
  /**
   * Something may be due: look at once, or at that time, in milliseconds since the Unix epoch. What is due to whoever says so may not
   * be yet by this worker's clock, and a look before that finds nothing.
   */
  wake(at?: number): void
  /** Something is due at these queues, since that time: drain them, without searching for them where that is fair to others. */
  drain(queues: readonly DueQueue[], at: number): void
  /** Looks again and again until stopped. */
  start(): void
  /**
   * Begins no more drains and no more attempts, and waits for those under way to be completed: for 12 s, after
   * which what is not answered is left due; and for 2 s more, after which a database that does not answer is left.
   */
  stop(): Promise<void>
  /** Does all that is due by the clock, and answers how many drains that took. For tests and drains by hand. */
  runDue(): Promise<number>
  /** Attempts under way. */
  readonly inFlight: number
}

interface RunningDrain {
  readonly drain: Drain
  readonly ended: Promise<DrainEnd>
}

export function createEngine(
  services: Omit<DrainServices, 'tuning'>,
  options: {
    /** Whose leases these are: whoever learns of the worker's death gives them back by it. */
    readonly workerId?: string
    /** For drains of unproven and failing endpoints, which the healthy are not to wait for a connection behind. */
    readonly otherQueues?: EndpointQueues
    /** Calls that take an organization's clock row, one at a time of each. */
    readonly clockTurns?: KeyedQueue
    /** The attempts of the process, where this is not its only engine. */
    readonly limiter?: ConcurrencyLimiter
    readonly tuning?: DeliveryTuning
  } = {},
): Engine {
  const { queues, clock, log } = services
  const {
    workerId = randomUUID(),
    otherQueues = queues,
    clockTurns = createKeyedQueue(),
    tuning = deliveryTuning,
    limiter = new ConcurrencyLimiter(tuning.concurrency),
  } = options
  const { foundAtOnce, looksApart, pollEvery, apart, attemptsMayTake, completingMayTake } = tuning.engine
  const stopWithin = attemptsMayTake + completingMayTake
  const drainServices: DrainServices = { ...services, tuning }
  const shutdown = new Shutdown()
  const disablePolicy = createDisablePolicy({
    ...services,
    queues: otherQueues,
    clockTurns,
    tuning: tuning.disabling,
    onDisabled: wakeUnlessDraining,
  })
  const workerServices: WorkerServices = { workerId, limiter, disablePolicy, shutdown }
  const running = new Map<string, RunningDrain>()
  const looking = periodic({
    every: pollEvery,
    apart: looksApart,
    stopWithin,
    run: async () => {
      await look()
    },
    onFailure: (error) =>
      log.warn({ err: loggable(error) }, 'could not look for due deliveries; trying again'),
  })
  const { tickEvery } = tuning.concurrency
  let sinceTick: (() => number) | null = null
  /** While something is being drained. */
  const ticking = periodic({
    every: tickEvery,
    stopWithin: 0,
    run() {
      if (sinceTick !== null) limiter.noteLateness(sinceTick() - tickEvery)
      for (const { drain } of running.values()) drain.tick()
      sinceTick = stopwatch()
    },
    onFailure: (error) => log.warn({ err: loggable(error) }, 'drains could not be looked after'),
  })
  const sweeper = createSweeper(drainServices, { stopWithin, onDeliveries: wakeUnlessDraining })
  /** Queues may be waiting for room. */
  let behind = false
  /** Somebody drains by hand, and looks again by himself. */
  let draining = false
  const paces: Readonly<Partial<Record<PriorityClass, Pace>>> = {
    unproven: new Pace(apart.unproven, looking.wake),
    failing: new Pace(apart.failing, looking.wake),
  }

  return {
    wake: (at = 0) => when(at, looking.wake),
    drain: (due, at) => when(at, () => drainMore(due)),
    start() {
      looking.start()
      sweeper.start()
    },
    stop,
    runDue,
    get inFlight() {
      return limiter.inUse
    },
  }

  function wakeUnlessDraining(): void {
    if (!draining) looking.wake()
  }

  /** Does it at once, or when it is time by this worker's clock; of what is further off than the next look, that sees. */
  function when(at: number, act: () => void): void {
    const early = at - clock.now()
    if (early <= 0) act()
    else if (early < pollEvery) setTimeout(act, early).unref()
  }

  /** Those with a class that has a pace, or is served in turn, wait to be found: nobody goes ahead of others by being told of. */
  function drainMore(due: readonly DueQueue[]): void {
    let search = false
    for (const queue of due) {
      const known = running.get(keyOf(queue))
      known?.drain.wake()
      if (known !== undefined) continue
      if (behind || queue.priority !== 'healthy' || launch(queue) === null) search = true
    }
    if (search) looking.wake()
  }

  /** Begins drains of what is due, as many as there is room for. */
  async function look(): Promise<readonly RunningDrain[]> {
    const now = clock.now()
    await sweeper.noticed(now, draining)
    const withRoom = priorityClasses.filter((priority) => limiter.hasRoom(priority))
    const open = withRoom.filter((priority) => draining || paces[priority]?.ask() !== false)
    const due = open.length === 0 ? [] : await queues.findDue(workerId, now, open)
    const begun: RunningDrain[] = []
    const beginOf = (queue: DueQueue) => {
      const drain = begin(queue)
      if (drain !== null) begun.push(drain)
    }
    behind = withRoom.length < priorityClasses.length
    const foundOf = Map.groupBy(due, ({ priority }) => priority)
    const isFull = open.some((priority) => foundOf.get(priority)?.length === foundAtOnce[priority])
    let paced = 0
    for (const priority of open) {
      const found = foundOf.get(priority) ?? []
      const pace = draining ? undefined : paces[priority]
      if (pace === undefined) found.forEach(beginOf)
      else {
        pace.begin(found, beginOf)
        paced += found.length
      }
    }
    // There are more where those came from.
    if (isFull && (begun.length > 0 || paced > 1)) wakeUnlessDraining()
    return begun
  }

  /** Wakes the queue's drain, or begins one, which it then answers. */
  function begin(queue: DueQueue): RunningDrain | null {
    const known = running.get(keyOf(queue))
    known?.drain.wake()
    const begun = known === undefined ? launch(queue) : null
    if (known === undefined && begun === null) behind = true
    return begun
  }

  /** Null when there is no room. */
  function launch(queue: DueQueue): RunningDrain | null {
    const own = shutdown.isRequested ? null : limiter.open(queue.priority)
    if (own === null) return null
    const servedBy = queue.priority === 'healthy' ? queues : otherQueues
    const drain = new Drain({ ...drainServices, queues: servedBy }, workerServices, queue, own)
    const ended = drain
      .run()
      .catch((error: Error) => {
        // The lease runs out and the queue is found again.
        const { organizationId, webhookId } = queue
        log.warn({ organizationId, webhookId, err: loggable(error) }, 'a drain failed')
        return { ran: false, more: false }
      })
      .finally(() => {
        running.delete(keyOf(queue))
        if (running.size === 0) ticking.pause()
      })
    if (running.size === 0) {
      sinceTick = null
      ticking.start()
    }
    const begun = { drain, ended }
    running.set(keyOf(queue), begun)
    void ended.then(({ more }) => {
      if (draining) return
      // One that was answered goes on; of any other it may be known only now why it does not.
      if (more && own.isProven) drainMore([{ ...queue, priority: own.priority }])
      // At this endpoint, or at one that has waited for room.
      else if (more || behind) looking.wake()
    })
    return begun
  }

  async function stop(): Promise<void> {
    shutdown.request()
    disablePolicy.stop()
    for (const pace of Object.values(paces)) pace.stop()
    const drains = () => Promise.all([...running.values()].map(({ ended }) => ended))
    const ended = Promise.all([sweeper.stop(), looking.stop().then(drains)])
    await atMost(attemptsMayTake, ended)
    shutdown.cut()
    await atMost(completingMayTake, ended)
    await ticking.stop()
  }

  async function runDue(): Promise<number> {
    draining = true
    for (let drains = 0; ; ) {
      const begun = await look()
      if (begun.length === 0) return drains
      const ends = await Promise.all(begun.map(({ ended }) => ended))
      drains += ends.filter(({ ran }) => ran).length
    }
  }
}
