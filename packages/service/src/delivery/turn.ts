/**
 * One turn of a lane: take what is due, send it, settle, and take more while there is more. Up to sixteen attempts at
 * once, all from this worker, as nobody else holds the lane.
 *
 * A turn waits for nothing that it need not wait for: an attempt that ends makes room for the next, whatever the others
 * do; results are settled in batches; and while some attempts hang, the lane listens for what comes in meanwhile.
 */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Alarm } from './alarm.ts'
import { mostAlone, type Share, shareOf } from './alone.ts'
import { type AttemptServices, attempt, lostAttempt } from './attempt.ts'
import { foldHealth, noChange } from './decide.ts'
import type { Disabler } from './disabler.ts'
import type { Halt } from './halt.ts'
import { judge } from './judge.ts'
import type { Settling } from './lane-settling.ts'
import { LaneSlots, type UnderWay } from './lane-slots.ts'
import type { AttemptResult, DueLane, LaneKey, Lanes, Taken, TakenDelivery } from './lanes.ts'
import { type DeliveryObserver, tell } from './observer.ts'
import { Pace } from './pace.ts'
import { leaseOf } from './schedule.ts'
import type { Sign } from './signer.ts'
import type { Slot, Slots } from './slots.ts'
import { fullTakesATurn, takeSizes } from './tiers.ts'

/** A queue shorter than this is filled up, if more is due: the next are there when the last are sent. */
const refillBelow = 16
/**
 * What was taken is sent within this, in milliseconds, or taken anew: payload, secrets, scopes and the endpoint itself
 * are to be those of the moment (specification 10.5), however slow the receiver is.
 */
const freshFor = 1_000
/** Results are settled as soon as there are so many, or so many milliseconds after the first. */
const settleAt = 64
const settleAfter = 1_000
/** Ticks with nothing to do but wait for answers, after which the lane listens. */
const quietTicks = 4
/** Bytes of payloads that a worker holds before its turns take only a few deliveries at once. */
const payloadsInMemory = 64 * 1024 * 1024
/** So many at once then. */
const takenWhenFull = 8

/** What signs this endpoint's deliveries now. */
export type SignerOf = (taken: Taken) => Sign

export interface TurnServices extends AttemptServices {
  readonly lanes: Lanes
  readonly signerOf: SignerOf
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'error'>
  readonly observer: DeliveryObserver
}

/** What all turns of one worker share. */
export interface Shared {
  readonly workerId: string
  readonly slots: Slots
  readonly alarm: Alarm
  readonly disabler: Disabler
  readonly halt: Halt
  /** Characters of payloads that are taken and not sent. */
  payloads: number
}

export interface TurnEnd {
  /** Whether it had the lane. */
  readonly ran: boolean
  /** More is due on it. */
  readonly more: boolean
}

export class Turn {
  readonly #services: TurnServices
  readonly #shared: Shared
  readonly #lane: LaneKey
  readonly #leaseId = randomUUID()
  readonly #pace: Pace
  #taken: Taken | null = null
  #sign: Sign | null = null
  #disabled: string | null = null
  #queue: TakenDelivery[] = []
  #takenAt = 0
  readonly #underWay: LaneSlots
  /** What was taken and is not settled, wherever it stands. */
  readonly #known = new Set<string>()
  #results: AttemptResult[] = []
  #oldestResult = 0
  #more = true
  #woken = false
  #held = true
  /** Nothing more is taken in this turn. */
  #last = false
  #listening = false
  #quiet = 0
  /** Takes that brought as much as they could. */
  #fullTakes = 0
  #signal = Promise.withResolvers<void>()

  /** `slot` is the lane's first; the turn leaves it when it ends. */
  constructor(services: TurnServices, shared: Shared, lane: DueLane, slot: Slot) {
    this.#services = services
    this.#shared = shared
    this.#lane = { organizationId: lane.organizationId, webhookId: lane.webhookId }
    this.#pace = new Pace(lane.tier)
    this.#underWay = new LaneSlots(shared.slots, this.#pace, slot)
  }

  /**
   * Runs until nothing is due, or the worker stops: what is not begun then, or not answered when it can wait no longer,
   * stays due. Rejects when the database fails; then what is not settled goes out again when the lease ends.
   */
  async run(): Promise<TurnEnd> {
    const { halt } = this.#shared
    try {
      await this.#take()
      if (!this.#held) return { ran: false, more: false }
      await this.#untilNothingIsLeft()
      return { ran: true, more: await this.#settle('release') }
    } finally {
      this.#drop()
      this.#held = false
      // Nobody else may send to the endpoint while these are under way.
      while (this.#underWay.size > 0 && !halt.overdue) await this.#something()
      this.#underWay.release()
    }
  }

  /** Something has come in. */
  wake(): void {
    this.#woken = true
    this.#more = true
    this.#notify()
  }

  /** To be called every `tickEvery` milliseconds. */
  tick(): void {
    this.#underWay.tick(this.#queue.length > 0)
    this.#quiet++
    this.#fill()
    if (this.#mustSettle() || this.#mustTake()) this.#notify()
  }

  async #untilNothingIsLeft(): Promise<void> {
    const { halt } = this.#shared
    while (!halt.overdue) {
      this.#fill()
      if (this.#mustSettle()) await this.#settle(this.#isIdle() ? 'listen' : 'hold')
      else if (this.#mustTake()) await this.#take()
      else if (this.#underWay.size === 0 && this.#queue.length === 0) return
      else await this.#something()
    }
  }

  get #goesOn(): boolean {
    return this.#held && !this.#shared.halt.requested
  }

  /** Attempts under way leave room for more, and nothing is there to be sent. */
  #isIdle(): boolean {
    return !this.#more && !this.#last && this.#queue.length === 0 && this.#underWay.hasRoom
  }

  #mustTake(): boolean {
    if (!this.#goesOn || !this.#more || this.#last || !this.#underWay.hasRoom || this.#isOthersTurn())
      return false
    return this.#queue.length < (this.#pace.tier === 'heavy' ? refillBelow : 1)
  }

  /** There is more, but others of its tier wait for a slot, and this lane has had its share. */
  #isOthersTurn(): boolean {
    const { slots } = this.#shared
    const { tier } = this.#pace
    return slots.isOver(tier) || (this.#fullTakes >= fullTakesATurn[tier] && !slots.hasPlenty(tier))
  }

  #mustSettle(): boolean {
    if (!this.#held || this.#underWay.size === 0) return this.#held && this.#results.length >= settleAt
    const waited = this.#services.clock.now() - this.#oldestResult
    // A clock that was set back says nothing of how long they have waited.
    const late = this.#results.length > 0 && (waited >= settleAfter || waited < 0)
    const deaf = !this.#listening && this.#quiet >= quietTicks && this.#isIdle()
    return this.#results.length >= settleAt || late || (deaf && this.#goesOn)
  }

  async #take(): Promise<void> {
    const { lanes, clock, schedule } = this.#services
    const listening = this.#pace.tier === 'light'
    let limit = 0
    const taking = () => {
      const now = clock.now()
      limit = this.#shared.payloads > payloadsInMemory ? takenWhenFull : takeSizes[this.#pace.tier]
      const until = now + leaseOf(schedule)
      return { lease: { id: this.#leaseId, workerId: this.#shared.workerId, until, listening }, now, limit }
    }
    this.#woken = false
    const taken = await lanes.take(this.#lane, taking, [...this.#known])
    // Counted from here, so that it is sent however long the taking took: what would be too old to be sent when it comes would
    // be taken anew for ever.
    this.#takenAt = clock.now()
    this.#quiet = 0
    if (taken === null) return this.#lose()
    this.#taken = taken
    this.#disabled = taken.endpoint.disabledReason
    // Sure of it only once it was settled so: a commit of that very moment was not seen.
    this.#listening = false
    const full = taken.deliveries.length === limit
    this.#more = full || this.#woken
    if (full) {
      this.#fullTakes++
      this.#underWay.hasBacklog()
    }
    if (this.#disabled === null && taken.endpoint.scopes === null) {
      // Whatever comes of it, the next turn sees.
      this.#more = false
      const at = clock.now()
      await this.#shared.disabler.disable({ lane: this.#lane, tried: null, reason: 'registrant_revoked', at })
      return
    }
    this.#sign = this.#services.signerOf(taken)
    if (this.#disabled !== null) {
      // What is under way may still arrive: it is settled first, and the next turn fails the rest.
      if (this.#known.size > 0) {
        this.#more = false
        return
      }
      await lanes.failPending(this.#lane, this.#disabled, clock.now())
    }
    if (taken.aloneLeft === mostAlone)
      this.#services.log.warn(
        { ...this.#lane, reason: 'lost_leases' },
        'leases of an endpoint were lost three times in a row; its deliveries are sent one at a time for a while',
      )
    const share = shareOf(taken)
    if (share.kind !== 'together') return this.#takeAlone(taken, share)
    if (share.deliveries.length < taken.deliveries.length) this.#more = true
    for (const delivery of share.deliveries) this.#enqueue(delivery)
    this.#fill()
  }

  /** One delivery is the whole turn: so is what a worker dies of told from what was sent beside it. */
  async #takeAlone(taken: Taken, share: Exclude<Share, { kind: 'together' }>): Promise<void> {
    const { lanes, clock, log, observer } = this.#services
    this.#last = true
    this.#more = false
    // Others are under way: it is the next turn's.
    if (this.#known.size > 0) return
    const { delivery } = share
    if (share.kind === 'lost') {
      const result = lostAttempt(this.#services, taken, delivery, share.since)
      this.#known.add(delivery.id)
      this.#results.push(result)
      tell(observer, result)
      log.error(
        { ...this.#lane, deliveryId: delivery.id, attempt: delivery.attemptCount + 1, reason: 'worker_lost' },
        'a worker died while it sent this delivery alone',
      )
      return
    }
    if (!(await lanes.isolate({ ...this.#lane, leaseId: this.#leaseId }, delivery.id, clock.now())))
      return this.#lose()
    this.#enqueue(delivery)
    this.#fill()
  }

  #enqueue(delivery: TakenDelivery): void {
    this.#queue.push(delivery)
    this.#known.add(delivery.id)
    this.#shared.payloads += delivery.data?.length ?? 0
  }

  /** Begins as many attempts as there is room for. */
  #fill(): void {
    const { clock } = this.#services
    if (this.#queue.length === 0) return
    const age = clock.now() - this.#takenAt
    if (!this.#goesOn || this.#pace.isSpent || age >= freshFor || age < 0) this.#drop()
    while (this.#underWay.hasRoom) {
      const [delivery] = this.#queue
      if (delivery === undefined) return
      const place = this.#underWay.begin()
      if (place === null) return
      this.#queue.shift()
      this.#shared.payloads -= delivery.data?.length ?? 0
      void this.#begin(delivery, place)
    }
  }

  /** What was taken and not begun is left, and taken anew if the turn goes on. */
  #drop(): void {
    for (const { id, data } of this.#queue) {
      this.#known.delete(id)
      this.#shared.payloads -= data?.length ?? 0
    }
    this.#more ||= this.#queue.length > 0
    this.#queue = []
  }

  async #begin(delivery: TakenDelivery, place: UnderWay): Promise<void> {
    const destination = {
      taken: this.#taken as Taken,
      sign: this.#sign as Sign,
      disabled: this.#disabled,
      doubtful: this.#pace.tier === 'slow',
    }
    const result = await attempt(this.#services, destination, delivery)
    this.#underWay.end(place, result)
    if (this.#results.length === 0) this.#oldestResult = this.#services.clock.now()
    this.#results.push(result)
    this.#quiet = 0
    tell(this.#services.observer, result)
    this.#fill()
    // Most results change nothing for the loop: waking it for each is a tenth of all that a turn costs.
    if (this.#underWay.size === 0 || this.#mustSettle() || this.#mustTake()) this.#notify()
  }

  /** Answers whether more is due on the lane. */
  async #settle(next: Settling['next']): Promise<boolean> {
    if (!this.#held) return false
    const { lanes, clock, schedule } = this.#services
    const results = this.#results
    this.#results = []
    const now = clock.now()
    const health = results.reduce(
      (change, { verdict, endedAt }) => foldHealth(change, verdict, endedAt),
      noChange,
    )
    const settling = new Set(results.map(({ delivery }) => delivery.id))
    const known = [...this.#known].filter((id) => !settling.has(id))
    this.#woken = false
    const lane = { ...this.#lane, leaseId: this.#leaseId }
    const { tier } = this.#pace
    // A turn that is cut short knows of attempts under way: they are due again.
    const round = { results, health, next, tier, known: next === 'release' ? [] : known }
    const settled = await lanes.settle(lane, round, now, now + leaseOf(schedule))
    if (!settled.held) {
      this.#lose()
      return false
    }
    for (const id of settling) this.#known.delete(id)
    this.#more = settled.more || this.#woken
    this.#listening = next === 'listen'
    const disabled = await judge(
      { ...this.#services, alarm: this.#shared.alarm, disabler: this.#shared.disabler },
      this.#lane,
      results,
      settled.failingSince,
      now,
    )
    // What is left is not sent any more; what is under way may still arrive, and the next turn fails the rest.
    if (disabled !== null) this.#disabled = disabled
    return settled.more || disabled !== null
  }

  #lose(): void {
    if (this.#taken !== null && this.#held)
      this.#services.log.warn(
        { ...this.#lane, reason: 'lease' },
        'a lane was lost to another worker; its deliveries go out again',
      )
    this.#held = false
    this.#more = false
  }

  /** Waits until an attempt ends, the lane is woken, or the worker stops. */
  async #something(): Promise<void> {
    await this.#shared.halt.wait(this.#signal.promise)
    this.#signal = Promise.withResolvers()
  }

  #notify(): void {
    this.#signal.resolve()
  }
}
