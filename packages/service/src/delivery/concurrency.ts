/**
 * The concurrency limiter: may another attempt begin? `mayStart` decides, and is pure; the two classes keep the figures that it needs, one
 * for a worker and one for each drain.
 *
 * A worker's permits are shared among the priority classes, so that hanging or flooded endpoints leave some to others. How many an endpoint
 * gets, and its class, follow from how it responds.
 */
import type { PriorityClass } from './model.ts'
import { type ConcurrencyTuning, deliveryTuning } from './tuning.ts'

/** A worker's attempts, and drains about to make one, by the class that each is charged to at the moment. */
export type WorkerUsage = Readonly<Record<PriorityClass, number>>

/** What decides about the next attempt to an endpoint. */
export interface EndpointUsage {
  readonly priority: PriorityClass
  /** Attempts under way, and those of them that take too long: they hold up no other. */
  readonly underWay: number
  readonly overdue: number
  /** So many attempts may be under way beside those that are overdue. */
  readonly window: number
  /** A TLS handshake failed: the drain begins no more attempts. Endpoints with a wrong certificate and a backlog took all of a worker's time. */
  readonly handshakeFailed: boolean
  /** Whether the permit that the drain came with is in no attempt. */
  readonly hasSparePermit: boolean
}

/**
 * May another attempt to the endpoint begin? Always where it has none under way, unless a handshake failed. More than one only while there is
 * plenty: the permits that are left are for the first attempts of other endpoints.
 */
export function mayStart(worker: WorkerUsage, endpoint: EndpointUsage, tuning: ConcurrencyTuning): boolean {
  const { priority, underWay, overdue, window } = endpoint
  if (endpoint.handshakeFailed || underWay >= tuning.perEndpoint || underWay - overdue >= window) return false
  return endpoint.hasSparePermit || hasPlenty(worker, priority, tuning)
}

/** Whether there is one more for the class: a drain of it may begin. */
function hasRoom(worker: WorkerUsage, priority: PriorityClass, tuning: ConcurrencyTuning): boolean {
  // An unproven endpoint that hangs becomes a failing one, and must not take by that what is left for the others.
  if (priority === 'unproven' && worker.failing + worker.unproven >= tuning.failing + tuning.unproven)
    return false
  return inAll(worker) < tuning.total && worker[priority] < mostOf(priority, tuning)
}

/** Whether less than half of all is in use, and of the class's; of the failing an eighth. */
function hasPlenty(worker: WorkerUsage, priority: PriorityClass, tuning: ConcurrencyTuning): boolean {
  const part = priority === 'failing' ? tuning.plentyOfFailing : tuning.plenty
  return inAll(worker) < tuning.total * tuning.plenty && worker[priority] < mostOf(priority, tuning) * part
}

/** The healthy may have all that the others leave. */
function mostOf(priority: PriorityClass, tuning: ConcurrencyTuning): number {
  return priority === 'healthy' ? tuning.total : tuning[priority]
}

function inAll({ healthy, unproven, failing }: WorkerUsage): number {
  return healthy + unproven + failing
}

/** Ticks that the lateness is an average of, the last ones counting most. */
const latenessOver = 8

/** The right to one attempt; it counts for the class that it is charged to at the moment. */
interface Permit {
  priority: PriorityClass
}

/** The figures of one worker. */
export class ConcurrencyLimiter {
  readonly #tuning: ConcurrencyTuning
  readonly #used: Record<PriorityClass, number> = { healthy: 0, unproven: 0, failing: 0 }
  #lateness = 0
  #payloads = 0

  constructor(tuning: ConcurrencyTuning = deliveryTuning.concurrency) {
    this.#tuning = tuning
  }

  get used(): WorkerUsage {
    return this.#used
  }

  /** Attempts under way, and drains about to make one. */
  get inUse(): number {
    return inAll(this.#used)
  }

  hasRoom(priority: PriorityClass): boolean {
    return hasRoom(this.#used, priority, this.#tuning)
  }

  hasPlenty(priority: PriorityClass): boolean {
    return hasPlenty(this.#used, priority, this.#tuning)
  }

  /** The class has more than its limit, as some permits were charged to it later. */
  isOver(priority: PriorityClass): boolean {
    return this.#used[priority] > mostOf(priority, this.#tuning)
  }

  /** A timer of this worker came so many milliseconds late. */
  noteLateness(milliseconds: number): void {
    this.#lateness += (milliseconds - this.#lateness) / latenessOver
  }

  /**
   * Whether more at once are of no use to an endpoint that needed so many milliseconds for an answer, as the worker is what is slow. What
   * hangs keeps it from nothing.
   */
  isEnoughFor(milliseconds: number): boolean {
    const { enough, quick, turnsOfAnAttempt } = this.#tuning
    const isBusy = this.inUse - this.#used.failing > enough
    return isBusy && milliseconds <= Math.max(quick, turnsOfAnAttempt * this.#lateness)
  }

  /** What a drain begins with; null when there is no room for another of its class. */
  open(priority: PriorityClass): EndpointLimiter | null {
    const permit = this.acquire(priority)
    return permit === null ? null : new EndpointLimiter(this, permit, this.#tuning)
  }

  /** Null when there is no room. What is acquired is to be released once. */
  acquire(priority: PriorityClass): Permit | null {
    if (!this.hasRoom(priority)) return null
    this.#used[priority]++
    return { priority }
  }

  /** Charges the permit to another class, which may have more than its limit by that: then it gets no more for a while. */
  charge(permit: Permit, priority: PriorityClass): void {
    this.#used[permit.priority]--
    permit.priority = priority
    this.#used[priority]++
  }

  release(permit: Permit): void {
    this.#used[permit.priority]--
  }

  /** So many characters of payloads were claimed, or, where negative, are sent or left. */
  holdPayload(characters: number): void {
    this.#payloads += characters
  }

  /** Payloads fill the memory that they may have. */
  get isFullOfPayloads(): boolean {
    return this.#payloads > this.#tuning.payloadsInMemory
  }
}

/** An attempt under way, and for how many ticks. */
export interface RunningAttempt {
  readonly permit: Permit
  ticks: number
}

/** How an attempt ended, as far as it bears on the next ones. */
interface EndedAttempt {
  /** False when nothing was sent after all. */
  readonly attempted: boolean
  readonly answered: boolean
  /** Until the answer or the failure, in milliseconds. */
  readonly took: number
  /** Whether a TLS handshake was made for it in vain. */
  readonly lostHandshake: boolean
}

/** The figures of one drain: one permit for as long as it lasts, and another for each attempt beside the first. */
export class EndpointLimiter {
  readonly #worker: ConcurrencyLimiter
  readonly #tuning: ConcurrencyTuning
  readonly #usage: { -readonly [K in keyof EndpointUsage]: EndpointUsage[K] }
  readonly #underWay = new Set<RunningAttempt>()
  #isProven = false
  /** The permit that the drain came with, while it is in no attempt. */
  #spare: Permit | null

  /** `first` is released by `close`. */
  constructor(worker: ConcurrencyLimiter, first: Permit, tuning: ConcurrencyTuning) {
    this.#worker = worker
    this.#tuning = tuning
    this.#spare = first
    const { priority } = first
    const atFirst = worker.isEnoughFor(0) ? 1 : tuning.perEndpointAtFirst
    this.#usage = {
      priority,
      underWay: 0,
      overdue: 0,
      window: priority === 'failing' ? 1 : atFirst,
      handshakeFailed: false,
      hasSparePermit: true,
    }
  }

  /** Among whom the endpoint waits now. */
  get priority(): PriorityClass {
    return this.#usage.priority
  }

  /** Whether an attempt was answered since the drain began, and the last of them in time. */
  get isProven(): boolean {
    return this.#isProven
  }

  get handshakeFailed(): boolean {
    return this.#usage.handshakeFailed
  }

  /** Attempts under way. */
  get underWay(): number {
    return this.#usage.underWay
  }

  get mayStart(): boolean {
    return mayStart(this.#worker.used, this.#usage, this.#tuning)
  }

  /** Whether others of its class wait, so that a drain which has had its share claims no more. */
  mustYield(hasHadItsTurn: boolean): boolean {
    const { priority } = this.#usage
    return this.#worker.isOver(priority) || (hasHadItsTurn && !this.#worker.hasPlenty(priority))
  }

  /** Null when none may start. What is started is to be ended once. */
  start(): RunningAttempt | null {
    if (!this.mayStart) return null
    const permit = this.#spare ?? this.#worker.acquire(this.#usage.priority)
    if (permit === null) return null
    this.#keep(null)
    const attempt = { permit, ticks: 0 }
    this.#underWay.add(attempt)
    this.#usage.underWay++
    return attempt
  }

  end(attempt: RunningAttempt, ended: EndedAttempt): void {
    this.#underWay.delete(attempt)
    this.#usage.underWay--
    const wasOverdue = this.#isOverdue(attempt)
    if (wasOverdue) this.#usage.overdue--
    if (ended.attempted) this.#learn(ended, wasOverdue)
    if (this.#usage.underWay > 0) {
      this.#worker.release(attempt.permit)
      return
    }
    this.#worker.charge(attempt.permit, this.#usage.priority)
    this.#keep(attempt.permit)
  }

  /**
   * `tickEvery` has passed: what is overdue is charged to the failing, so that it does not fill up the healthy. With
   * `eager`, more may be started while there is plenty, unless the worker is what is slow.
   */
  tick(eager: boolean): void {
    let longest = 0
    for (const attempt of this.#underWay) {
      if (this.#isOverdue(attempt)) continue
      attempt.ticks++
      longest = Math.max(longest, attempt.ticks)
      if (!this.#isOverdue(attempt)) continue
      this.#usage.overdue++
      this.#fallTo('failing')
      this.#worker.charge(attempt.permit, 'failing')
    }
    const { priority } = this.#usage
    if (!eager || priority === 'failing' || !this.#worker.hasPlenty(priority)) return
    // It may have begun just before the first of them.
    if (!this.#worker.isEnoughFor((longest - 1) * this.#tuning.tickEvery)) this.#widen()
  }

  /** The drain is over; what is still under way then is left with its permits. */
  close(): void {
    if (this.#spare !== null) this.#worker.release(this.#spare)
    this.#keep(null)
  }

  #learn({ answered, took, lostHandshake }: EndedAttempt, wasOverdue: boolean): void {
    // One that hung has kept its own pace, and holds up nothing else of its endpoint.
    if (lostHandshake && !wasOverdue) this.#usage.handshakeFailed = true
    if (!answered) {
      this.#fallTo('failing')
      this.#usage.window = 1
      return
    }
    if (this.#worker.isEnoughFor(took)) this.#narrow()
    else this.#widen()
    if (wasOverdue) this.#fallTo('unproven')
    else {
      this.#usage.priority = 'healthy'
      this.#isProven = true
    }
  }

  #fallTo(priority: 'unproven' | 'failing'): void {
    this.#usage.priority = priority
    this.#isProven = false
  }

  #widen(): void {
    this.#usage.window = Math.min(this.#tuning.perEndpoint, this.#usage.window + 1)
  }

  #narrow(): void {
    this.#usage.window = Math.max(1, this.#usage.window - 1)
  }

  #isOverdue({ ticks }: RunningAttempt): boolean {
    return ticks * this.#tuning.tickEvery > this.#tuning.slowAfter
  }

  #keep(permit: Permit | null): void {
    this.#spare = permit
    this.#usage.hasSparePermit = permit !== null
  }
}
