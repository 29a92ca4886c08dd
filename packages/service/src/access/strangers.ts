/**
 * A pace for whatever needs no key, or comes without a good one: pages, health, metrics, refusals. Each costs little, but one
 * network that asks as fast as it can would be answered ten thousand times a second, at everybody's cost. So each has so many a
 * second; what comes faster waits for its turn, and is refused where too many of that network wait. Those turns are further apart while
 * organizations are served and processors are short.
 */
import type { RestAfter } from '../kernel/room-for-others.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import { createRateLimiter, type RateLimit } from './rate-limit.ts'

export interface StrangerLimits extends RateLimit {
  /** Requests of one network that may wait. */
  readonly waiting: number
}

/** Three hundredths of the event loop's time at most, for one network. A page and all that it loads are a dozen requests. */
export const strangerLimits: StrangerLimits = { perSecond: 300, burst: 300, waiting: 600 }

export class Strangers {
  readonly #limits: StrangerLimits
  readonly #pace: ReturnType<typeof createRateLimiter>
  readonly #restAfter: RestAfter
  /** Those of each network that wait, the first to come first. */
  readonly #queues = new Map<string, (() => void)[]>()

  /** Time is what `elapsed` says: milliseconds that only grow. */
  constructor(
    limits: StrangerLimits = strangerLimits,
    restAfter: RestAfter = () => 0,
    elapsed: () => number = stopwatch(),
  ) {
    this.#limits = limits
    this.#restAfter = restAfter
    this.#pace = createRateLimiter(limits, { now: () => Math.floor(elapsed()) })
  }

  /** Calls back when it is this network's turn, which is at once as a rule; false, and no call, when too many of it wait. */
  enter(network: string, go: () => void): boolean {
    const queue = this.#queues.get(network)
    if (queue !== undefined) {
      if (queue.length >= this.#limits.waiting) return false
      queue.push(go)
      return true
    }
    const { allowed, retryAfter } = this.#pace.count(network)
    if (allowed) go()
    else {
      const waiting = [go]
      this.#queues.set(network, waiting)
      setTimeout(() => this.#serve(network, waiting), retryAfter)
    }
    return true
  }

  #serve(network: string, queue: (() => void)[]): void {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const { allowed, retryAfter } = this.#pace.count(network)
      if (!allowed) {
        setTimeout(() => this.#serve(network, queue), retryAfter)
        return
      }
      queue.shift()
      next()
      const rest = this.#restAfter(null, 1_000 / this.#limits.perSecond)
      if (rest >= 1) {
        setTimeout(() => this.#serve(network, queue), rest)
        return
      }
    }
    this.#queues.delete(network)
  }
}
