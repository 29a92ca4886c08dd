/** One drain of an endpoint's queue: claims, sends up to sixteen at once and writes results, while more are due. See `drain-modes.ts`. */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { type AttemptServices, attempt, lostAttempt, report } from './attempt.ts'
import type { Completion } from './complete.ts'
import type { ConcurrencyLimiter, EndpointLimiter, EndpointLimits, RunningAttempt } from './concurrency.ts'
import type { DisablePolicy } from './disable-policy.ts'
import { type DrainMode, type DrainSituation, isIdle, moveTo, nextMode } from './drain-modes.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import type {
  AttemptResult,
  Claim,
  ClaimedDelivery,
  DeliveryObserver,
  DueQueue,
  EndpointKey,
} from './model.ts'
import type { Sign } from './signer.ts'
import { deliveryTuning } from './tuning.ts'
import { foldHealth, isToReport, noChange, type ToSend, toSendOf } from './verdict.ts'

const { claimSize, claimSizeOfBacklog, claimSizeWhenFull, freshFor } = deliveryTuning.drain
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
}

export interface DrainEnd {
  readonly ran: boolean
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
  /** More may be due than was claimed; and whether the drain was woken since the last statement began. */
  #hasMore = true
  #wasWoken = false
  /** One delivery is sent alone: nothing more is claimed. */
  #isAlone = false
  /** The organization is suspended: attempts under way are completed, and the queue waits until it is resumed. */
  #isSuspended = false
  #hadFullClaim = false
  #wasLost = false
  #quietTicks = 0
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

  /** Runs until nothing is due, or the worker stops; deliveries without a written result stay due. Rejects when the database fails. */
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
    return { ran: this.#latestClaim !== null, more: this.#hasMore, lost: this.#wasLost }
  }

  wake(): void {
    this.#wasWoken = true
    this.#hasMore = true
    this.#notify()
  }

  tick(): void {
    this.#limiter.tick(this.#deliveries.waiting > 0)
    this.#quietTicks++
    this.#start()
    this.#notifyIfDue()
  }

  async #step(): Promise<void> {
    switch (this.#mode) {
      case 'claiming':
        return this.#claim()
      case 'sending':
      case 'listening':
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
    const { priority } = this.#limiter
    let limit = 0
    const options = () => {
      const now = clock.now()
      const size = this.#hadFullClaim ? claimSizeOfBacklog : claimSize
      limit = limiter.isFullOfPayloads ? claimSizeWhenFull : size
      return {
        lease: {
          id: this.#leaseId,
          workerId,
          until: now + leaseLasts,
          listening: priority === 'healthy' && !this.#hadFullClaim,
        },
        now,
        limit,
      }
    }
    this.#wasWoken = false
    const claim = await queues.claim(this.#endpoint, options, this.#deliveries.ids)
    // Counted from the end of the claim: one that takes longer than `freshFor` would otherwise be repeated for ever.
    this.#deliveries.claimedAt = clock.now()
    this.#quietTicks = 0
    if (claim === null) return this.#lose()
    const isFull = claim.deliveries.length === limit
    this.#hasMore = isFull || this.#wasWoken
    if (isFull) this.#hadFullClaim = true
    // Only a completion may lead to listening: this claim may have missed a commit of the same moment.
    if (await this.#accept(claim)) this.#move('sending')
    else this.#lose()
  }

  /** Takes the deliveries that are to be sent now; false when the lease was lost. */
  async #accept(claim: Claim): Promise<boolean> {
    const { queues, clock, log } = this.#services
    this.#isSuspended = claim.endpoint.suspended
    if (this.#isSuspended) {
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
      await queues.failPending(this.#endpoint, this.#disabled, clock.now())
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

  async #send(mode: 'sending' | 'listening'): Promise<void> {
    this.#start()
    const next = nextMode(this.#situation(mode))
    if (next === null) await this.#waitForSignal()
    else this.#move(next)
  }

  async #complete(): Promise<void> {
    const next = isIdle(this.#situation('sending')) ? 'listen' : 'hold'
    if (await this.#write(next)) this.#move(next === 'listen' ? 'listening' : 'sending')
    else this.#lose()
  }

  async #release(): Promise<void> {
    this.#leaveWaiting()
    if (!(await this.#write('release'))) return this.#lose()
    if (this.#isSuspended) {
      await this.#services.queues.holdSuspended(this.#endpoint)
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

  #situation(mode: 'sending' | 'listening'): DrainSituation {
    const { clock } = this.#services
    const { shutdown } = this.#worker
    const deliveries = this.#deliveries
    const { mayStart, underWay } = this.#limiter
    return {
      mode,
      stops: shutdown.isRequested,
      isOverdue: shutdown.isOverdue,
      hasBacklog: this.#hadFullClaim,
      hasMore: this.#hasMore,
      mayClaim:
        !this.#isAlone &&
        !this.#isSuspended &&
        !(this.#hasMore && this.#limiter.mustYield(this.#hadFullClaim)),
      mayStart,
      isPaced: deliveries.waiting > 0 && this.#limiter.isPaced,
      waiting: deliveries.waiting,
      underWay,
      results: deliveries.results,
      resultsAge: deliveries.results === 0 ? 0 : clock.now() - deliveries.firstResultAt,
      quietTicks: this.#quietTicks,
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
    if (this.#deliveries.leaveWaiting()) this.#hasMore = true
  }

  async #attempt(delivery: ClaimedDelivery, running: RunningAttempt): Promise<void> {
    const { claim, sign } = this.#latestClaim as { claim: Claim; sign: Sign }
    const doubtful = this.#limiter.priority === 'failing'
    const destination = { claim, sign, disabled: this.#disabled, doubtful }
    const result = await attempt(this.#services, destination, delivery)
    const { verdict, responseStatus, lostHandshake } = result
    const { attempted } = verdict
    this.#limiter.end(running, { attempted, answered: responseStatus !== null, lostHandshake })
    this.#note(result)
    this.#quietTicks = 0
    this.#start()
    this.#notifyIfDue()
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
    // Attempts of a drain that is cut short are still under way: their deliveries are due again.
    const known = next === 'release' ? [] : this.#deliveries.idsBut(results)
    const completed = await queues.complete(
      { ...this.#endpoint, leaseId: this.#leaseId },
      { results, health, next, priority, known },
      now,
      now + this.#worker.leaseLasts,
    )
    if (!completed.held) return false
    this.#deliveries.forget(results)
    this.#hasMore = completed.more || this.#wasWoken
    if (isToReport(this.#latestClaim?.claim.endpoint.reportedState ?? null, health)) this.#services.onHealth()
    const { failingSince } = completed
    const disabled = await this.#worker.disablePolicy.apply(this.#endpoint, results, failingSince, now)
    // Nothing more is sent; attempts under way may still succeed, and the next drain fails the rest.
    if (disabled === null) return true
    this.#disabled = disabled
    if (next === 'release') this.#hasMore = true
    return true
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
    if (mode !== 'sending' && mode !== 'listening') return
    if (nextMode(this.#situation(mode)) !== null) this.#notify()
  }

  #notify(): void {
    this.#signal.resolve()
  }
}

/** Deliveries that a drain has claimed and not completed: each waits, is under way, or has a result. */
class ClaimedDeliveries {
  readonly #limiter: ConcurrencyLimiter
  readonly #ids = new Set<string>()
  #waiting: ClaimedDelivery[] = []
  #results: AttemptResult[] = []
  /** When the waiting ones were claimed; and when the first result came, if there is one. */
  claimedAt = 0
  firstResultAt = 0

  constructor(limiter: ConcurrencyLimiter) {
    this.#limiter = limiter
  }

  get size(): number {
    return this.#ids.size
  }

  get ids(): readonly string[] {
    return [...this.#ids]
  }

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId)
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get results(): number {
    return this.#results.length
  }

  add(delivery: ClaimedDelivery): void {
    this.#waiting.push(delivery)
    this.#ids.add(delivery.id)
    this.#limiter.holdPayload(delivery.data?.length ?? 0)
  }

  /** Takes the one that has waited longest. There must be one. */
  next(): ClaimedDelivery {
    const delivery = this.#waiting.shift() as ClaimedDelivery
    this.#limiter.holdPayload(-(delivery.data?.length ?? 0))
    return delivery
  }

  leaveWaiting(): boolean {
    const left = this.#waiting
    for (const { id, data } of left) {
      this.#ids.delete(id)
      this.#limiter.holdPayload(-(data?.length ?? 0))
    }
    this.#waiting = []
    return left.length > 0
  }

  note(result: AttemptResult, now: number): void {
    if (this.#results.length === 0) this.firstResultAt = now
    this.#ids.add(result.delivery.id)
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
    for (const { delivery } of results) this.#ids.delete(delivery.id)
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
