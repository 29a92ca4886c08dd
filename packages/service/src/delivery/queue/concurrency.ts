/**
 * The concurrency limiter. It shares a worker's permits among priorities, so that endpoints that hang or have a backlog
 * leave some to others. `mayStart` decides; the two classes keep the figures it needs, one for the worker and one for
 * each drain.
 */
import type { RateLimiter } from '../../admission/rate-limit.ts'
import type { Priority } from '../model.ts'
import { type ConcurrencyTuning, deliveryTuning } from '../tuning.ts'

/** Permits in use, by the priority that each is charged to at the moment. */
export type WorkerUsage = Readonly<Record<Priority, number>>

export interface EndpointUsage {
  readonly priority: Priority
  /** Attempts under way, and how many of those take too long; the latter do not use up the window. */
  readonly underWay: number
  readonly overdue: number
  /** Attempts that may be under way, apart from overdue ones. */
  readonly window: number
  /**
   * A TLS handshake failed: no more attempts, as endpoints with a wrong certificate and a backlog took all of a
   * worker's time.
   */
  readonly handshakeFailed: boolean
  readonly hasSparePermit: boolean
  /** Attempts at once that the endpoint asks for. */
  readonly most: number
  /** Attempts under way to its host, by all endpoints of its organization. */
  readonly toHost: number
}

/**
 * The first attempt may begin unless a handshake failed; more only while there is plenty, which leaves permits for
 * other endpoints.
 */
export function mayStart(worker: WorkerUsage, endpoint: EndpointUsage, tuning: ConcurrencyTuning): boolean {
  const { priority, underWay, overdue, window, most, toHost } = endpoint
  if (endpoint.handshakeFailed || underWay >= most || underWay - overdue >= window) return false
  if (underWay > 0 && toHost >= tuning.perHost) return false
  return endpoint.hasSparePermit || hasPlenty(worker, priority, tuning)
}

/**
 * Whether less than half of all permits and of the priority's are in use (for unresponsive endpoints, an eighth of
 * theirs).
 */
function hasPlenty(worker: WorkerUsage, priority: Priority, tuning: ConcurrencyTuning): boolean {
  const part = priority === 'unresponsive' ? tuning.plentyOfUnresponsive : tuning.plenty
  return inAll(worker) < tuning.total * tuning.plenty && worker[priority] < maxOf(priority, tuning) * part
}

function maxOf(priority: Priority, tuning: ConcurrencyTuning): number {
  return priority === 'responsive' ? tuning.total : tuning[priority]
}

function inAll({ responsive, unproven, unresponsive }: WorkerUsage): number {
  return responsive + unproven + unresponsive
}

interface AttemptPermit {
  priority: Priority
}

export class ConcurrencyLimiter {
  readonly #tuning: ConcurrencyTuning
  readonly #used: Record<Priority, number> = { responsive: 0, unproven: 0, unresponsive: 0 }
  /** Attempts under way to a host, of an organization. */
  readonly #toHosts = new Map<string, number>()
  #payloads = 0

  constructor(tuning: ConcurrencyTuning = deliveryTuning.concurrency) {
    this.#tuning = tuning
  }

  get used(): WorkerUsage {
    return this.#used
  }

  get inUse(): number {
    return inAll(this.#used)
  }

  hasFreePermit(priority: Priority): boolean {
    const { total, unresponsive, unproven } = this.#tuning
    const used = this.#used
    // An unproven endpoint that hangs becomes an unresponsive one, and must not use up the others' share by that.
    if (priority === 'unproven' && used.unresponsive + used.unproven >= unresponsive + unproven) return false
    return this.inUse < total && used[priority] < maxOf(priority, this.#tuning)
  }

  hasPlenty(priority: Priority): boolean {
    return hasPlenty(this.#used, priority, this.#tuning)
  }

  /** The priority has more than its limit, as permits were charged to it later. */
  isOver(priority: Priority): boolean {
    return this.#used[priority] > maxOf(priority, this.#tuning)
  }

  open(priority: Priority): EndpointLimiter | null {
    const permit = this.acquire(priority)
    return permit === null ? null : new EndpointLimiter(this, permit, this.#tuning)
  }

  /** Null when no permit is free. Release it once. */
  acquire(priority: Priority): AttemptPermit | null {
    if (!this.hasFreePermit(priority)) return null
    this.#used[priority]++
    return { priority }
  }

  /** Charges the permit to another priority, even beyond that one's limit; it then gets no more until it is below. */
  charge(permit: AttemptPermit, priority: Priority): void {
    this.#used[permit.priority]--
    permit.priority = priority
    this.#used[priority]++
  }

  release(permit: AttemptPermit): void {
    this.#used[permit.priority]--
  }

  /** Adds characters of claimed payloads; negative when they were sent or dropped. */
  holdPayload(characters: number): void {
    this.#payloads += characters
  }

  toHost(host: string): number {
    return this.#toHosts.get(host) ?? 0
  }

  countToHost(host: string, change: 1 | -1): void {
    const count = this.toHost(host) + change
    if (count === 0) this.#toHosts.delete(host)
    else this.#toHosts.set(host, count)
  }

  get isFullOfPayloads(): boolean {
    return this.#payloads > this.#tuning.payloadsInMemory
  }
}

export interface RunningAttempt {
  readonly permit: AttemptPermit
  readonly host: string
  ticks: number
}

export interface EndpointLimits {
  /** Its organization and host. */
  readonly host: string
  /** Attempts at once that it asks for; null: as many as any. */
  readonly most: number | null
  /** Counts its attempts, by this name; null without a limit. */
  readonly rate: { readonly limiter: RateLimiter; readonly name: string } | null
}

interface EndedAttempt {
  readonly attempted: boolean
  readonly answered: boolean
  /** A TLS handshake was made for nothing. */
  readonly lostHandshake: boolean
}

/** The figures of one drain: one permit while it runs, and another for each attempt beyond the first. */
export class EndpointLimiter {
  readonly #worker: ConcurrencyLimiter
  readonly #tuning: ConcurrencyTuning
  readonly #usage: { -readonly [K in keyof EndpointUsage]: EndpointUsage[K] }
  readonly #underWay = new Set<RunningAttempt>()
  #isProven = false
  #spare: AttemptPermit | null
  #host = ''
  #rate: EndpointLimits['rate'] = null

  /** `close` releases `first`. */
  constructor(worker: ConcurrencyLimiter, first: AttemptPermit, tuning: ConcurrencyTuning) {
    this.#worker = worker
    this.#tuning = tuning
    this.#spare = first
    const { priority } = first
    this.#usage = {
      priority,
      underWay: 0,
      overdue: 0,
      window: priority === 'unresponsive' ? 1 : tuning.perEndpointAtFirst,
      handshakeFailed: false,
      hasSparePermit: true,
      most: tuning.perEndpoint,
      toHost: 0,
    }
  }

  /** What the latest claim says holds from now on. */
  respect({ host, most, rate }: EndpointLimits): void {
    this.#host = host
    this.#rate = rate
    this.#usage.most = Math.min(most ?? this.#tuning.perEndpoint, this.#tuning.perEndpoint)
  }

  /** Its rate allows no attempt now. */
  get isPaced(): boolean {
    return this.#rate !== null && !this.#rate.limiter.peek(this.#rate.name).allowed
  }

  get priority(): Priority {
    return this.#usage.priority
  }

  /** Whether the last response since the drain began came in time. */
  get isProven(): boolean {
    return this.#isProven
  }

  get handshakeFailed(): boolean {
    return this.#usage.handshakeFailed
  }

  get underWay(): number {
    return this.#usage.underWay
  }

  get mayStart(): boolean {
    this.#usage.toHost = this.#worker.toHost(this.#host)
    return mayStart(this.#worker.used, this.#usage, this.#tuning)
  }

  /** Whether others of its priority wait, so that a drain that has had its share claims no more. */
  mustYield(hasHadItsShare: boolean): boolean {
    const { priority } = this.#usage
    return this.#worker.isOver(priority) || (hasHadItsShare && !this.#worker.hasPlenty(priority))
  }

  /** Null when none may start. End it once. */
  start(): RunningAttempt | null {
    if (!this.mayStart || this.isPaced) return null
    const permit = this.#spare ?? this.#worker.acquire(this.#usage.priority)
    if (permit === null) return null
    this.#keep(null)
    this.#rate?.limiter.count(this.#rate.name)
    this.#worker.countToHost(this.#host, 1)
    const attempt = { permit, host: this.#host, ticks: 0 }
    this.#underWay.add(attempt)
    this.#usage.underWay++
    return attempt
  }

  end(attempt: RunningAttempt, ended: EndedAttempt): void {
    this.#underWay.delete(attempt)
    this.#usage.underWay--
    this.#worker.countToHost(attempt.host, -1)
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
   * Called every `tickEvery`: charges overdue attempts to the unresponsive priority. With `eager`, the window widens
   * while there is plenty.
   */
  tick(eager: boolean): void {
    for (const attempt of this.#underWay) {
      if (this.#isOverdue(attempt)) continue
      attempt.ticks++
      if (!this.#isOverdue(attempt)) continue
      this.#usage.overdue++
      this.#fallTo('unresponsive')
      this.#worker.charge(attempt.permit, 'unresponsive')
    }
    const { priority } = this.#usage
    if (eager && priority !== 'unresponsive' && this.#worker.hasPlenty(priority)) this.#widen()
  }

  /** The drain has nothing to do: others have its permit. */
  rest(): void {
    if (this.#spare !== null) this.#worker.release(this.#spare)
    this.#keep(null)
  }

  /** After a rest: takes a permit if one is free. */
  resume(): void {
    if (!this.#usage.hasSparePermit) this.#keep(this.#worker.acquire(this.#usage.priority))
  }

  /** The drain has ended. Attempts still under way keep their permits. */
  close(): void {
    this.rest()
  }

  #learn({ answered, lostHandshake }: EndedAttempt, wasOverdue: boolean): void {
    // A handshake that hung holds up nothing else of its endpoint.
    if (lostHandshake && !wasOverdue) this.#usage.handshakeFailed = true
    if (!answered) {
      this.#fallTo('unresponsive')
      this.#usage.window = 1
      return
    }
    this.#widen()
    if (wasOverdue) this.#fallTo('unproven')
    else {
      this.#usage.priority = 'responsive'
      this.#isProven = true
    }
  }

  #fallTo(priority: 'unproven' | 'unresponsive'): void {
    this.#usage.priority = priority
    this.#isProven = false
  }

  #widen(): void {
    this.#usage.window = Math.min(this.#tuning.perEndpoint, this.#usage.window + 1)
  }

  #isOverdue({ ticks }: RunningAttempt): boolean {
    return ticks * this.#tuning.tickEvery > this.#tuning.slowAfter
  }

  #keep(permit: AttemptPermit | null): void {
    this.#spare = permit
    this.#usage.hasSparePermit = permit !== null
  }
}
