/**
 * One turn of a lane: take what is due, send it, settle. Up to sixteen attempts at once, all from this worker, as
 * nobody else holds the lane; results are settled together, and early when the slow keep the quick waiting.
 */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { grants } from '../access/scopes.ts'
import type { Clock } from '../kernel/clock.ts'
import { loggable } from '../kernel/loggable.ts'
import { version } from '../kernel/version.ts'
import { type AttemptOutcome, decide, foldHealth, hasFailedTooLong, noChange } from './decide.ts'
import { envelope } from './envelope.ts'
import type { Halt } from './halt.ts'
import type { LaneKey, Lanes, RoundResult, Taken, TakenDelivery } from './lanes.ts'
import { type DeliverySchedule, leaseOf } from './schedule.ts'
import type { Sign } from './signer.ts'

/** Attempts to one endpoint at once (decisions, section 7: isolation). */
export const attemptsAtOnce = 16
/**
 * Attempts that a turn begins with, and after how many milliseconds another may join them. A quick receiver is
 * served by a few connections; one that is slow gets all sixteen within a quarter of a second.
 */
const attemptsAtFirst = 4
const anotherAfter = 20
/** Deliveries taken in one turn. */
export const takenAtOnce = 64
/**
 * What was taken is sent within this, in milliseconds, or taken anew: payload, secrets, scopes and the endpoint itself
 * are to be those of the moment (specification, section 2.2), however slow the receiver is.
 */
const freshFor = 1_000
/** Results wait this long for their neighbours, in milliseconds. */
const settleAfter = 1_000

/** What sending needs to know, and what it answers. */
export type Send = (request: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}) => Promise<Extract<AttemptOutcome, { kind: 'answered' | 'failed' }>>

/** What signs this endpoint's deliveries now, opened once a round. */
export type SignerOf = (taken: Taken) => Sign

export interface RoundServices {
  readonly lanes: Lanes
  readonly send: Send
  readonly signerOf: SignerOf
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'error'>
  /** The read scope of a subject's kind. */
  readonly scopeOf: (subjectKind: string) => string | null
}

/** One turn of the lane, cut short when the worker stops. Answers whether it had the lane. */
export async function runRound(services: RoundServices, lane: LaneKey, halt: Halt): Promise<boolean> {
  const { lanes, clock, schedule } = services
  const leaseId = randomUUID()
  const now = clock.now()
  const taken = await lanes.take(lane, leaseId, now, now + leaseOf(schedule), takenAtOnce)
  if (taken === null) return false
  const { endpoint } = taken
  if (endpoint.disabledReason === null && endpoint.scopes === null) {
    await disableRevoked(services, taken)
    // Whatever came of it, the next turn sees.
    await new Round(services, { ...taken, deliveries: [] }, halt).run()
    return true
  }
  if (endpoint.disabledReason !== null) await lanes.failPending(lane, endpoint.disabledReason, clock.now())
  await new Round(services, taken, halt).run()
  return true
}

/** An endpoint whose registrant is gone is disabled, and says so. */
async function disableRevoked({ lanes, clock, log }: RoundServices, taken: Taken): Promise<void> {
  const reason = 'registrant_revoked'
  if (await lanes.disable(taken, reason, clock.now(), 0))
    log.warn(about(taken, reason), 'an endpoint was disabled')
}

class Round {
  readonly #services: RoundServices
  readonly #taken: Taken
  readonly #halt: Halt
  readonly #sign: Sign
  #disabled: string | null
  #waiting: RoundResult[] = []
  #oldest = 0
  #settling: Promise<void> = Promise.resolve()
  #held = true

  constructor(services: RoundServices, taken: Taken, halt: Halt) {
    this.#services = services
    this.#taken = taken
    this.#disabled = taken.endpoint.disabledReason
    this.#halt = halt
    this.#sign = services.signerOf(taken)
  }

  /** What is not begun when the worker stops, or not answered when it can wait no longer, stays due. */
  async run(): Promise<void> {
    const { clock } = this.#services
    const freshUntil = clock.now() + freshFor
    const queue = [...this.#taken.deliveries]
    const next = async (): Promise<void> => {
      while (this.#held && !this.#halt.requested && clock.now() < freshUntil) {
        const delivery = queue.shift()
        if (delivery === undefined) return
        this.#collect(await this.#attempt(delivery))
      }
    }
    const senders = Array.from({ length: attemptsAtFirst }, next)
    const more = setInterval(() => {
      if (queue.length > 0 && senders.length < attemptsAtOnce) senders.push(next())
    }, anotherAfter)
    const early = setInterval(() => this.#settleEarly(), settleAfter)
    const all = async () => {
      // Senders that join later find an empty queue once these are through with it.
      for (let n = 0; n < senders.length; n++) await senders[n]
    }
    try {
      await this.#halt.wait(all())
    } finally {
      clearInterval(more)
      clearInterval(early)
    }
    await this.#settling
    await this.#settle(true)
  }

  async #attempt(delivery: TakenDelivery): Promise<RoundResult> {
    const { clock, schedule } = this.#services
    const startedAt = clock.now()
    const outcome = await this.#outcome(delivery).catch((error: Error) => this.#unsendable(error, startedAt))
    const endedAt = clock.now()
    const isPing = delivery.event.type === 'ping'
    const verdict = decide({ ...delivery, isPing }, outcome, endedAt, schedule.retryDelays)
    return {
      delivery,
      verdict,
      startedAt,
      endedAt,
      responseStatus: outcome.kind === 'answered' ? outcome.status : null,
      responseBody: outcome.kind === 'answered' ? outcome.responseBody : null,
      durationMs: 'durationMs' in outcome ? outcome.durationMs : 0,
    }
  }

  async #outcome(delivery: TakenDelivery): Promise<AttemptOutcome> {
    const { event, data } = delivery
    const { endpoint } = this.#taken
    if (this.#disabled !== null && event.type !== 'ping') {
      return { kind: 'endpoint_disabled', message: `the endpoint was disabled: ${this.#disabled}` }
    }
    if (data === null) return { kind: 'subject_unavailable', message: `the ${event.subjectKind} was removed` }
    const scope = this.#services.scopeOf(event.subjectKind)
    if (scope !== null && !grants(endpoint.scopes ?? [], scope)) {
      return { kind: 'subject_unavailable', message: `the registrant's key lacks the scope ${scope}` }
    }
    const body = envelope(this.#taken, event, data)
    const timestamp = Math.floor(this.#services.clock.now() / 1000)
    const request = {
      url: endpoint.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Deskwire/${version}`,
        'x-service-event-id': event.id,
        'x-service-event-type': event.type,
        'x-service-signature': this.#sign(timestamp, body),
      },
      body,
    }
    return this.#services.send(request)
  }

  /** An attempt like any other, so that one delivery that cannot be sent keeps no other from being settled. */
  #unsendable(error: Error, startedAt: number): AttemptOutcome {
    const { clock, log } = this.#services
    log.error({ ...about(this.#taken, 'send'), err: loggable(error) }, 'a delivery could not be sent')
    return {
      kind: 'failed',
      code: 'connection_failed',
      message: "It could not be sent; the service's log says why",
      durationMs: Math.max(0, clock.now() - startedAt),
    }
  }

  #collect(result: RoundResult): void {
    if (this.#waiting.length === 0) this.#oldest = this.#services.clock.now()
    this.#waiting.push(result)
  }

  #settleEarly(): void {
    if (this.#waiting.length === 0 || this.#services.clock.now() - this.#oldest < settleAfter) return
    this.#settling = this.#settling
      .then(() => this.#settle(false))
      .catch((error: Error) => {
        // Nothing is lost: the lease runs out, and what was not settled is sent again.
        this.#services.log.warn(
          { ...about(this.#taken, 'settle'), err: loggable(error) },
          'results could not be settled',
        )
        this.#held = false
      })
  }

  async #settle(release: boolean): Promise<void> {
    if (!this.#held) return
    const { lanes, clock, schedule, log } = this.#services
    const results = this.#waiting
    this.#waiting = []
    const now = clock.now()
    const health = results.reduce(
      (change, { verdict, endedAt }) => foldHealth(change, verdict, endedAt),
      noChange,
    )
    const settled = await lanes.settle(
      this.#taken,
      { results, health, release },
      now,
      now + leaseOf(schedule),
    )
    if (!settled.held) {
      this.#held = false
      log.warn(about(this.#taken, 'lease'), 'a lane was lost to another worker; its deliveries go out again')
      return
    }
    await this.#judge(results, settled.failingSince, now)
  }

  /** Disables the endpoint when its results say so. */
  async #judge(results: readonly RoundResult[], failingSince: number | null, now: number): Promise<void> {
    const { lanes, schedule, log } = this.#services
    const notPublic = results.some(({ verdict }) => verdict.disable !== null)
    const reason = notPublic
      ? 'address_not_public'
      : hasFailedTooLong(failingSince, now, schedule.disableAfter)
        ? 'failing'
        : null
    if (reason === null || !(await lanes.disable(this.#taken, reason, now, now - schedule.disableAfter)))
      return
    // What is left of this round is not sent any more.
    this.#disabled = reason
    log.warn(about(this.#taken, reason), 'an endpoint was disabled')
    await lanes.failPending(this.#taken, reason, now)
  }
}

function about({ organizationId, webhookId }: LaneKey, reason: string) {
  return { organizationId, webhookId, reason }
}
