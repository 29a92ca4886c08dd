/**
 * How fast one lane goes: how many attempts it may have under way, and among whom it waits. Both follow from how its
 * endpoint answers.
 */
import type { Tier } from './tiers.ts'

/** Attempts to one endpoint at once (specification 10.6). */
export const attemptsAtOnce = 16
/**
 * Attempts that a turn begins with; each that is answered lets one more in. So a receiver that answers has sixteen after
 * a few answers, and one that hangs keeps no more than these, unless there are slots in plenty.
 */
const attemptsAtFirst = 4
/** An attempt that takes longer is charged to the slow, in milliseconds. */
const slowAfter = 1_000
/** How often a worker looks after its turns, in milliseconds. */
export const tickEvery = 25

export class Pace {
  #tier: Tier
  /** So many attempts may be under way beside those that are overdue. */
  #window: number
  #overdue = 0
  #answered = false
  #spent = false

  constructor(tier: Tier) {
    this.#tier = tier
    this.#window = tier === 'slow' ? 1 : attemptsAtFirst
  }

  get tier(): Tier {
    return this.#tier
  }

  /** Whether an attempt has been answered since the turn began, and the last of them in time. */
  get isProven(): boolean {
    return this.#answered && (this.#tier === 'light' || this.#tier === 'heavy')
  }

  /**
   * Whether the lane has had its turn: a handshake was made in vain, and others would wait behind the next. A crowd of
   * endpoints with the wrong certificate, each with a backlog, left the worker time for nothing else.
   */
  get isSpent(): boolean {
    return this.#spent
  }

  /** Whether another attempt may begin beside so many. An overdue one holds up no other. */
  hasRoom(underWay: number): boolean {
    return !this.#spent && underWay < attemptsAtOnce && underWay - this.#overdue < this.#window
  }

  /** Whether an attempt that has been under way for so many ticks is overdue. */
  isOverdue(ticks: number): boolean {
    return ticks * tickEvery > slowAfter
  }

  /** An attempt has just become overdue. */
  becameOverdue(): void {
    this.#overdue++
    this.#tier = 'slow'
  }

  /** One more attempt may be under way. */
  widen(): void {
    this.#window = Math.min(attemptsAtOnce, this.#window + 1)
  }

  /** More was due than could be taken. */
  hasBacklog(): void {
    if (this.#tier === 'light') this.#tier = 'heavy'
  }

  /**
   * An attempt has ended, after so many ticks. An endpoint that does not answer, or cannot be reached, waits among the slow;
   * one that answers late has to prove itself anew, but not behind those: the worker may have been late itself.
   */
  ended(attempt: {
    readonly ticks: number
    readonly answered: boolean
    readonly lostHandshake?: boolean
  }): void {
    const overdue = this.isOverdue(attempt.ticks)
    // One that hung has kept its own pace, and holds up nothing else of its endpoint.
    this.#spent ||= attempt.lostHandshake === true && !overdue
    if (overdue) this.#overdue--
    if (attempt.answered) {
      this.#answered = true
      this.widen()
    }
    if (!attempt.answered) {
      this.#tier = 'slow'
      this.#window = 1
    } else if (overdue) this.#tier = 'fresh'
    else if (this.#tier !== 'heavy') this.#tier = 'light'
  }
}
