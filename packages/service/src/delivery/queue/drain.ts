/**
 * One drain of an endpoint's queue: claims, sends up to sixteen at once and writes results, while more are due. See
 * `drain-modes.ts`.
 */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { stopwatch } from '../../kernel/timestamps.ts'
import type {
  AttemptResult,
  Claim,
  ClaimedDelivery,
  DeliveryObserver,
  DueQueue,
  EndpointKey,
} from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import { foldHealth, isToReport, noChange, type ToSend, toSendOf } from '../verdict.ts'
import { type AttemptServices, attempt, lostAttempt, report } from './attempt.ts'
import type { Completion } from './complete.ts'
import type { ConcurrencyLimiter, EndpointLimiter, EndpointLimits, RunningAttempt } from './concurrency.ts'
import type { DisablePolicy } from './disable-policy.ts'
import { type DrainMode, type DrainSituation, moveTo, nextMode } from './drain-modes.ts'
import { type EndpointQueues, failureOf } from './endpoint-queues.ts'
import { goBackTo, type ReadPosition, readOn, unread } from './read-position.ts'
import type { Sign } from './signer.ts'

const { claimSize, claimSizeOfBacklog, claimSizeWhenFull, freshFor, restsFor } = deliveryTuning.drain
const { sentAlone } = deliveryTuning.leases

export interface DrainServices extends AttemptServices {
  readonly queues: EndpointQueues
  readonly signerOf: (claim: Claim) => Sign
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'error'>
  readonly observer: DeliveryObserver
  /** The endpoint may be in a state that no event has reported. */
  readonly onHealth: () => void
}

export interface WorkerServices {
  readonly workerId: string
  readonly leaseLasts: number
  readonly limiter: ConcurrencyLimiter
  readonly disablePolicy: DisablePolicy
  readonly shutdown: Shutdown
  /** What limits the attempts of an endpoint, as the claim of it says. */
  readonly limitsOf: (claim: Claim) => EndpointLimits
  /** Whether drains keep their leases for a while when they have nothing to do. */
  readonly rests: () => boolean
}

export interface DrainEnd {
  readonly more: boolean
  /** Its lease was lost, to another worker or because the database does not know it. */
  readonly lost: boolean
}

export class Drain {
  readonly #services: DrainServices
  readonly #worker: WorkerServices
  readonly #endpoint: EndpointKey
  readonly #leaseId: string
  readonly #limiter: EndpointLimiter
  readonly #deliveries: ClaimedDeliveries
  #mode: DrainMode = 'claiming'
  #latestClaim: { readonly claim: Claim; readonly sign: Sign | null } | null = null
  /** Why the endpoint is disabled, also if that happened after the claim. */
  #disabled: string | null = null
  /** More may be due than was claimed. */
  #hasMore = true
  /** Since the last statement began. */
  #wasWoken = false
  /** One delivery is sent alone: nothing more is claimed. */
  #isAlone = false
  /**
   * The organization is suspended or the endpoint paused: attempts under way are completed, and the queue waits until
   * that ends.
   */
  #isHeld = false
  /** The last claim was full. */
  #hasBacklog = false
  #wasLost = false
  #quietTicks = 0
  #hasLooked = false
  #position: ReadPosition = unread
  #leaseUntil = 0
  /** When the next delivery is due that it does not have; null: not known, or none. */
  #nextDue: number | null = null
  #restsUntil = 0
  /** The minute up to which its counts are folded; null: not known. */
  #foldedTo: number | null = null
  /** The latest success under its lease. */
  #succeededLast: number | null = null
  readonly #elapsed = stopwatch()
  #signal = Promise.withResolvers<void>()

  /** The drain closes `limiter` when it ends. */
  constructor(services: DrainServices, worker: WorkerServices, queue: DueQueue, limiter: EndpointLimiter) {
    this.#leaseId = randomUUID()
    this.#services = services
    this.#worker = worker
    this.#endpoint = { organizationId: queue.organizationId, webhookId: queue.webhookId }
    this.#limiter = limiter
    this.#deliveries = new ClaimedDeliveries(worker.limiter)
  }

  get mode(): DrainMode {
    return this.#mode
  }

  /**
   * Runs until nothing is due, or the worker stops; deliveries without a written result stay due. Rejects when the
   * database fails.
   */
  async run(): Promise<DrainEnd> {
    try {
      while (this.#mode !== 'ended') await this.#step()
    } catch (error) {
      this.#move('lost')
      await this.#step()
      throw error
    } finally {
      this.#limiter.close()
    }
    return { more: this.#hasMore, lost: this.#wasLost }
  }

  /**
   * Commits are no reason for an endpoint that does not respond to go on before others: the drain looks before it ends.
   */
  wakeForCommit(): void {
    if (this.#limiter.priority === 'responsive') this.wake()
  }

  wake(): void {
    this.#wasWoken = true
    this.#hasMore = true
    if (this.#mode === 'resting') this.#limiter.resume()
    this.#notify()
  }

  /** The worker stops: a drain that rests ends. */
  stop(): void {
    this.#notify()
  }

  tick(): void {
    if (this.#nextDue !== null && this.#nextDue <= this.#services.clock.now()) {
      this.#nextDue = null
      this.wake()
    }
    if (this.#mode !== 'resting') {
      this.#limiter.tick(this.#deliveries.waiting > 0)
      this.#quietTicks++
      this.#start()
    }
    this.#notifyIfDue()
  }

  async #step(): Promise<void> {
    switch (this.#mode) {
      case 'claiming':
        return this.#claim()
      case 'sending':
      case 'resting':
        return this.#send(this.#mode)
      case 'completing':
        return this.#complete()
      case 'releasing':
        return this.#release()
      case 'lost':
        return this.#untilAttemptsEnd()
      case 'ended':
        return
    }
  }

  #move(to: DrainMode): void {
    this.#mode = moveTo(this.#mode, to)
  }

  async #claim(): Promise<void> {
    const { queues, clock } = this.#services
    const { limiter, workerId, leaseLasts } = this.#worker
    let limit = 0
    let now = 0
    const options = () => {
      now = clock.now()
      const size = this.#hasBacklog ? claimSizeOfBacklog : claimSize
      limit = limiter.isFullOfPayloads ? claimSizeWhenFull : size
      return {
        lease: {
          id: this.#leaseId,
          workerId,
          until: now + leaseLasts,
        },
        now,
        limit,
        position: this.#position,
      }
    }
    this.#wasWoken = false
    const claim = await queues.claim(this.#endpoint, options, this.#deliveries.ids)
    // Counted from the end of the claim: one that takes longer than `freshFor` would otherwise be repeated for ever.
    this.#deliveries.claimedAt = clock.now()
    this.#resetQuiet()
    if (claim === null) return this.#lose()
    this.#leaseUntil = claim.leaseUntil
    const isFull = claim.deliveries.length === limit
    this.#hasMore = isFull || this.#wasWoken
    this.#hasBacklog = isFull
    if (!(await this.#accept(claim))) return this.#lose()
    const { rewinds, deliveries } = claim
    if (deliveries.every(({ id }) => this.#deliveries.has(id)))
      this.#position = readOn(this.#position, { rewinds, deliveries, isFull, now })
    this.#move('sending')
  }

  /** Takes the deliveries that are to be sent now; false when the lease was lost. */
  async #accept(claim: Claim): Promise<boolean> {
    const { queues, clock, log } = this.#services
    this.#isHeld = claim.endpoint.held
    if (this.#isHeld) {
      this.#latestClaim = { claim, sign: this.#latestClaim?.sign ?? null }
      this.#leaveWaiting()
      this.#hasMore = false
      return true
    }
    this.#disabled = claim.endpoint.disabledReason
    if (this.#disabled === null && claim.endpoint.scopes === null) {
      this.#latestClaim = { claim, sign: this.#latestClaim?.sign ?? null }
      this.#hasMore = false
      const finding = { endpoint: this.#endpoint, tried: null, reason: 'registrant_revoked', at: clock.now() }
      await this.#worker.disablePolicy.disable(finding)
      return true
    }
    this.#latestClaim = { claim, sign: this.#services.signerOf(claim) }
    this.#limiter.respect(this.#worker.limitsOf(claim))
    if (this.#disabled !== null) {
      if (claim.endpoint.reportedState !== 'disabled') this.#services.onHealth()
      // Attempts under way may still succeed: they are completed first, and the next drain fails the rest.
      if (this.#deliveries.size > 0) {
        this.#hasMore = false
        return true
      }
      await queues.failPending(this.#endpoint, failureOf(this.#disabled), clock.now())
    }
    if (claim.aloneLeft === sentAlone)
      log.warn(
        { ...this.#endpoint, reason: 'lost_leases' },
        "three leases of an endpoint's queue were lost in a row; its deliveries are sent one at a time for a while",
      )
    const toSend = toSendOf(claim)
    if (toSend.kind !== 'together') return this.#acceptAlone(claim, toSend)
    if (toSend.deliveries.length < claim.deliveries.length) this.#hasMore = true
    for (const delivery of toSend.deliveries)
      if (!this.#deliveries.has(delivery.id)) this.#deliveries.add(delivery)
    return true
  }

  /** Sends one delivery by itself, so that a worker's death can be attributed to it. */
  async #acceptAlone(claim: Claim, toSend: Exclude<ToSend, { kind: 'together' }>): Promise<boolean> {
    const { queues, clock, log } = this.#services
    this.#isAlone = true
    this.#hasMore = false
    if (this.#deliveries.size > 0) return true
    const { delivery } = toSend
    if (toSend.kind === 'alone') {
      const leased = { ...this.#endpoint, leaseId: this.#leaseId }
      if (!(await queues.isolate(leased, delivery.id, clock.now()))) return false
      this.#deliveries.add(delivery)
      return true
    }
    this.#note(lostAttempt(this.#services, claim, delivery, toSend.since))
    log.error(
      {
        ...this.#endpoint,
        deliveryId: delivery.id,
        attempt: delivery.attemptCount + 1,
        reason: 'worker_lost',
      },
      'a worker died while it sent this delivery and nothing else to the endpoint',
    )
    return true
  }

  async #send(mode: 'sending' | 'resting'): Promise<void> {
    this.#start()
    const next = nextMode(this.#situation(mode))
    if (next === null) return this.#waitForSignal()
    if (next === 'resting') {
      this.#restsUntil = this.#elapsed() + restsFor
      this.#limiter.rest()
    }
    this.#move(next)
  }

  async #complete(): Promise<void> {
    if (await this.#write('keep')) this.#move('sending')
    else this.#lose()
  }

  async #release(): Promise<void> {
    this.#leaveWaiting()
    if (!(await this.#write('release'))) return this.#lose()
    if (this.#isHeld) {
      await this.#services.queues.hold(this.#endpoint)
      this.#hasMore = false
    }
    this.#move('ended')
  }

  async #untilAttemptsEnd(): Promise<void> {
    this.#leaveWaiting()
    this.#hasMore = false
    while (this.#limiter.underWay > 0 && !this.#worker.shutdown.isOverdue) await this.#waitForSignal()
    this.#move('ended')
  }

  #situation(mode: 'sending' | 'resting'): DrainSituation {
    const { clock } = this.#services
    const { shutdown } = this.#worker
    const deliveries = this.#deliveries
    const { mayStart, underWay } = this.#limiter
    return {
      mode,
      stops: shutdown.isRequested,
      isOverdue: shutdown.isOverdue,
      hasBacklog: this.#hasBacklog,
      hasMore: this.#hasMore,
      mayClaim:
        !this.#isAlone && !this.#isHeld && !(this.#hasMore && this.#limiter.mustYield(this.#hasBacklog)),
      mayStart,
      isPaced: deliveries.waiting > 0 && this.#limiter.isPaced,
      waiting: deliveries.waiting,
      underWay,
      results: deliveries.results,
      resultsAge: deliveries.results === 0 ? 0 : clock.now() - deliveries.firstResultAt,
      quietTicks: this.#quietTicks,
      hasLooked: this.#hasLooked,
      leaseIsShort: this.#leaseUntil - clock.now() < this.#worker.leaseLasts / 2,
      mayRest:
        this.#worker.rests() &&
        !shutdown.isRequested &&
        !this.#isAlone &&
        !this.#isHeld &&
        this.#disabled === null &&
        this.#limiter.isProven,
      hasRested: mode === 'resting' && this.#elapsed() >= this.#restsUntil,
    }
  }

  get #mayBegin(): boolean {
    if (this.#worker.shutdown.isRequested) return false
    return this.#mode !== 'releasing' && this.#mode !== 'lost' && this.#mode !== 'ended'
  }

  #start(): void {
    const deliveries = this.#deliveries
    if (deliveries.waiting === 0) return
    const age = this.#services.clock.now() - deliveries.claimedAt
    const isFresh = age >= 0 && age < freshFor
    if (!this.#mayBegin || this.#limiter.handshakeFailed || !isFresh) {
      this.#leaveWaiting()
      return
    }
    while (deliveries.waiting > 0) {
      const running = this.#limiter.start()
      if (running === null) return
      void this.#attempt(deliveries.next(), running)
    }
  }

  /** Drops claimed deliveries that have not begun; they stay due. */
  #leaveWaiting(): void {
    const left = this.#deliveries.leaveWaiting()
    if (left.length === 0) return
    this.#position = goBackTo(this.#position, left)
    this.#hasMore = true
  }

  async #attempt(delivery: ClaimedDelivery, running: RunningAttempt): Promise<void> {
    const { claim, sign } = this.#latestClaim as { claim: Claim; sign: Sign }
    const doubtful = this.#limiter.priority === 'unresponsive'
    const destination = { claim, sign, disabled: this.#disabled, doubtful }
    const result = await attempt(this.#services, destination, delivery)
    const { verdict, responseStatus, lostHandshake } = result
    const { attempted } = verdict
    this.#limiter.end(running, { attempted, answered: responseStatus !== null, lostHandshake })
    this.#note(result)
    this.#resetQuiet()
    this.#start()
    this.#notifyIfDue()
  }

  #resetQuiet(): void {
    this.#quietTicks = 0
    this.#hasLooked = false
  }

  #note(result: AttemptResult): void {
    this.#deliveries.note(result, this.#services.clock.now())
    report(this.#services.observer, result)
  }

  async #write(next: Completion['next']): Promise<boolean> {
    const { queues, clock } = this.#services
    const results = this.#deliveries.takeResults()
    const now = clock.now()
    const health = results.reduce(
      (change, { verdict, endedAt }) => foldHealth(change, verdict, endedAt),
      noChange,
    )
    this.#wasWoken = false
    const { priority } = this.#limiter
    const isReleased = next === 'release'
    this.#succeededLast = health.succeededAt ?? this.#succeededLast
    // Attempts of a drain that is cut short are still under way: their deliveries are due again.
    const position = isReleased ? goBackTo(this.#position, this.#deliveries.all) : this.#position
    const completed = await queues.complete(
      { ...this.#endpoint, leaseId: this.#leaseId },
      {
        results,
        health,
        next,
        priority,
        known: isReleased ? [] : this.#deliveries.idsBut(results),
        position,
        foldFrom: results.length === 0 ? null : this.#foldFrom(now),
        succeededLast: isReleased ? this.#succeededLast : null,
      },
      now,
      now + this.#worker.leaseLasts,
    )
    if (!completed.held) return false
    this.#quietTicks = 0
    this.#hasLooked = true
    this.#leaseUntil = completed.leaseUntil
    this.#deliveries.forget(results)
    const isDue = completed.due !== null && completed.due <= now
    this.#nextDue = isDue ? null : completed.due
    this.#hasMore = isDue || this.#wasWoken
    if (isToReport(this.#latestClaim?.claim.endpoint.reportedState ?? null, health)) this.#services.onHealth()
    const { failingSince } = completed
    const disabled = await this.#worker.disablePolicy.apply(this.#endpoint, results, failingSince, now)
    // Nothing more is sent; attempts under way may still succeed, and the next drain fails the rest.
    if (disabled === null) return true
    this.#disabled = disabled
    if (next === 'release') this.#hasMore = true
    return true
  }

  /** Counts are folded once a minute, and when the drain begins. */
  #foldFrom(now: number): number | null {
    const minute = Math.floor(now / 60_000) * 60_000
    const from = this.#foldedTo ?? 0
    if (minute === from) return null
    this.#foldedTo = minute
    return from
  }

  #lose(): void {
    if (this.#latestClaim !== null)
      this.#services.log.warn(
        { ...this.#endpoint, reason: 'lease' },
        "an endpoint's queue was lost to another worker; its deliveries go out again",
      )
    this.#wasLost = this.#latestClaim !== null
    this.#move('lost')
  }

  /** Waits until an attempt ends, the drain is woken, or the worker stops. */
  async #waitForSignal(): Promise<void> {
    await this.#worker.shutdown.wait(this.#signal.promise)
    this.#signal = Promise.withResolvers()
  }

  /** Most results change nothing for the drain, and waking it for each took a tenth of its processor time. */
  #notifyIfDue(): void {
    const mode = this.#mode
    if (mode === 'lost' && this.#limiter.underWay === 0) this.#notify()
    if (mode !== 'sending' && mode !== 'resting') return
    if (nextMode(this.#situation(mode)) !== null) this.#notify()
  }

  #notify(): void {
    this.#signal.resolve()
  }
}

/** Deliveries that a drain has claimed and not completed: each waits, is under way, or has a result. */
class ClaimedDeliveries {
  readonly #limiter: ConcurrencyLimiter
  readonly #held = new Map<string, ClaimedDelivery>()
  #waiting: ClaimedDelivery[] = []
  #results: AttemptResult[] = []
  /** When the waiting ones were claimed. */
  claimedAt = 0
  /** When the first of the results was there; without results it means nothing. */
  firstResultAt = 0

  constructor(limiter: ConcurrencyLimiter) {
    this.#limiter = limiter
  }

  get size(): number {
    return this.#held.size
  }

  get all(): Iterable<ClaimedDelivery> {
    return this.#held.values()
  }

  get ids(): readonly string[] {
    return [...this.#held.keys()]
  }

  has(deliveryId: string): boolean {
    return this.#held.has(deliveryId)
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get results(): number {
    return this.#results.length
  }

  add(delivery: ClaimedDelivery): void {
    this.#waiting.push(delivery)
    this.#held.set(delivery.id, delivery)
    this.#limiter.holdPayload(delivery.data?.length ?? 0)
  }

  /** Takes the one that has waited longest. There must be one. */
  next(): ClaimedDelivery {
    const delivery = this.#waiting.shift() as ClaimedDelivery
    this.#limiter.holdPayload(-(delivery.data?.length ?? 0))
    return delivery
  }

  /** Drops those that wait, and returns them. */
  leaveWaiting(): readonly ClaimedDelivery[] {
    const left = this.#waiting
    for (const { id, data } of left) {
      this.#held.delete(id)
      this.#limiter.holdPayload(-(data?.length ?? 0))
    }
    this.#waiting = []
    return left
  }

  note(result: AttemptResult, now: number): void {
    if (this.#results.length === 0) this.firstResultAt = now
    this.#held.set(result.delivery.id, result.delivery)
    this.#results.push(result)
  }

  /** `forget` them once they are written. */
  takeResults(): readonly AttemptResult[] {
    const results = this.#results
    this.#results = []
    return results
  }

  idsBut(results: readonly AttemptResult[]): readonly string[] {
    const written = new Set(results.map(({ delivery }) => delivery.id))
    return this.ids.filter((id) => !written.has(id))
  }

  forget(results: readonly AttemptResult[]): void {
    for (const { delivery } of results) this.#held.delete(delivery.id)
  }
}

export class Shutdown {
  #isRequested = false
  #isOverdue = false
  readonly #waiting = new Set<() => void>()

  get isRequested(): boolean {
    return this.#isRequested
  }

  get isOverdue(): boolean {
    return this.#isOverdue
  }

  request(): void {
    this.#isRequested = true
  }

  cut(): void {
    this.#isRequested = true
    this.#isOverdue = true
    for (const leave of this.#waiting) leave()
  }

  /** Waits for the work, but not past the cut. Rejects if the work does before that. */
  async wait(work: Promise<unknown>): Promise<void> {
    const { promise: cut, resolve: leave } = Promise.withResolvers<void>()
    // One promise for each wait: a shared one would keep every wait's reaction until the end.
    this.#waiting.add(leave)
    if (this.#isOverdue) leave()
    try {
      await Promise.race([work, cut])
    } finally {
      this.#waiting.delete(leave)
    }
  }
}
