/**
 * The pace of backlogs: what one organization has piled up goes out beside what others are just waiting for. As long as others have
 * deliveries of the moment, backlogs get so many deliveries a second as leave the worker prompt, and all that it can do otherwise.
 *
 * What they have in common is the processor, of which nobody tells who takes it: a backlog is work for this worker, for the database, and
 * for whatever else may run there. So how late the worker's own timers come is the measure, as a sender that takes what others leave of a
 * network goes by the delay of its packets: late, and backlogs get less; prompt, and they get more.
 */
import { eventLoopLateness, type Lateness, nextRate } from '../kernel/lateness.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import { type BacklogTuning, deliveryTuning } from './tuning.ts'

export class BacklogPace {
  readonly #tuning: BacklogTuning
  readonly #elapsed: () => number
  readonly #lateness: Lateness
  readonly #company: Company
  #rate: number
  #adjustedAt = 0
  #askedAt = 0
  /** Null while nothing is measured. */
  #resting: NodeJS.Timeout | null = null

  constructor(
    tuning: BacklogTuning = deliveryTuning.backlogs,
    elapsed: () => number = stopwatch(),
    lateness: Lateness = eventLoopLateness(tuning.resolution),
  ) {
    this.#tuning = tuning
    this.#elapsed = elapsed
    this.#lateness = lateness
    this.#company = new Company(tuning.othersFor, elapsed)
    this.#rate = tuning.rateAtFirst
  }

  /** Something of the moment is delivered for the organization. */
  note(organizationId: string): void {
    this.#company.note(organizationId)
  }

  /** Whether a backlog of the organization has to leave room: something was delivered for another a moment ago. */
  isBeside(organizationId: string): boolean {
    return this.#company.hasOthers(organizationId)
  }

  /** Milliseconds that so many deliveries of backlogs take at the pace of now. */
  timeOf(deliveries: number): number {
    const now = this.#elapsed()
    this.#askedAt = now
    if (this.#resting === null) {
      // Nothing is known of now.
      this.#rate = this.#tuning.rateAtFirst
      this.#adjustedAt = now
      this.#lateness.begin()
      this.#restWhenForgotten()
    } else if (now - this.#adjustedAt >= this.#tuning.adjustEvery) {
      this.#rate = nextRate(this.#rate, this.#lateness.read(), this.#tuning)
      this.#adjustedAt = now
    }
    return (deliveries / this.#rate) * 1_000
  }

  /** Measures nothing from when nobody has asked for a while. */
  #restWhenForgotten(): void {
    const { forgetAfter } = this.#tuning
    this.#resting = setTimeout(() => {
      if (this.#elapsed() - this.#askedAt < forgetAfter) return this.#restWhenForgotten()
      this.#lateness.end()
      this.#resting = null
    }, forgetAfter)
    this.#resting.unref()
  }
}

/** Who was there lately, as far as it takes to say whether somebody is alone. */
class Company {
  readonly #within: number
  readonly #elapsed: () => number
  /** Who came last, and the last of anybody else before that: with when it was. */
  #last = { name: '', at: Number.NEGATIVE_INFINITY }
  #lastOther = { name: '', at: Number.NEGATIVE_INFINITY }

  /** Whoever was there within so many milliseconds counts. */
  constructor(within: number, elapsed: () => number) {
    this.#within = within
    this.#elapsed = elapsed
  }

  note(name: string): void {
    if (this.#last.name !== name) this.#lastOther = this.#last
    this.#last = { name, at: this.#elapsed() }
  }

  /** Whether anybody else was there. */
  hasOthers(name: string): boolean {
    const other = this.#last.name === name ? this.#lastOther : this.#last
    return this.#elapsed() - other.at <= this.#within
  }
}
