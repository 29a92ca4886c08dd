/** How far the stream's clock is ahead of the database's: remembered, and told of in time (decision 21). */

/** A skew that is worth a warning, in milliseconds: past what clocks that follow a time server differ by. */
export const worthTelling = 5_000

/** How long a skew is remembered, and how long nobody is warned again, in milliseconds. */
const period = 60_000

/** Remembers the largest skew of the last minute. Time is what `elapsed` says: milliseconds that only grow. */
export class ClockSkewWatch {
  readonly #elapsed: () => number
  readonly #warn: (clockSkew: number) => void
  #began = 0
  #largest = 0
  #before = 0
  #warned = Number.NEGATIVE_INFINITY

  constructor(elapsed: () => number, warn: (clockSkew: number) => void) {
    this.#elapsed = elapsed
    this.#warn = warn
  }

  /** A commit's clock skew, in milliseconds; null where nobody asked for it. Warns once a minute at most. */
  see(clockSkew: number | null): void {
    if (clockSkew === null) return
    this.#turn()
    this.#largest = Math.max(this.#largest, clockSkew)
    if (clockSkew <= worthTelling || this.#elapsed() - this.#warned < period) return
    this.#warned = this.#elapsed()
    this.#warn(clockSkew)
  }

  /** The largest of the last minute, up to two: in milliseconds, 0 when the stream is not ahead. */
  get clockSkew(): number {
    this.#turn()
    return Math.max(this.#largest, this.#before)
  }

  /** Begins another minute when one is over. */
  #turn(): void {
    const age = this.#elapsed() - this.#began
    if (age < period) return
    this.#before = age < 2 * period ? this.#largest : 0
    this.#largest = 0
    this.#began = this.#elapsed()
  }
}
