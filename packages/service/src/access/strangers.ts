/**
 * A pace for whatever needs no key, or comes without a good one: pages, health, metrics, refusals. Each costs little, but one
 * address that asks as fast as it can would be answered ten thousand times a second, at everybody's cost. So each network
 * has so many a second; what comes faster waits for its turn, and is refused where too many of that address wait.
 */
import { stopwatch } from '../kernel/timestamps.ts'
import { createRateLimiter, type RateLimit } from './rate-limit.ts'

export interface StrangerLimits extends RateLimit {
  /** Requests of one address that may wait. */
  readonly waiting: number
}

/** Three hundredths of the event loop's time at most, for one address. A page and all that it loads are a dozen requests. */
export const strangerLimits: StrangerLimits = { perSecond: 300, burst: 300, waiting: 600 }

export class Strangers {
  readonly #limits: StrangerLimits
  readonly #pace: ReturnType<typeof createRateLimiter>
  /** Those of each address that wait, the first to come first. */
  readonly #queues = new Map<string, (() => void)[]>()

  /** Time is what `elapsed` says: milliseconds that only grow. */
  constructor(limits: StrangerLimits = strangerLimits, elapsed: () => number = stopwatch()) {
    this.#limits = limits
    this.#pace = createRateLimiter(limits, { now: () => Math.floor(elapsed()) })
  }

  /** Calls back when it is this address's turn, which is at once as a rule; false, and no call, when too many of it wait. */
  enter(address: string, go: () => void): boolean {
    const queue = this.#queues.get(address)
    if (queue !== undefined) {
      if (queue.length >= this.#limits.waiting) return false
      queue.push(go)
      return true
    }
    const { allowed, retryAfter } = this.#pace.count(address)
    if (allowed) go()
    else {
      const waiting = [go]
      this.#queues.set(address, waiting)
      setTimeout(() => this.#serve(address, waiting), retryAfter)
    }
    return true
  }

  #serve(address: string, queue: (() => void)[]): void {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const { allowed, retryAfter } = this.#pace.count(address)
      if (!allowed) {
        setTimeout(() => this.#serve(address, queue), retryAfter)
        return
      }
      queue.shift()
      next()
    }
    this.#queues.delete(address)
  }
}

/** What an address is counted by: whoever has one of IPv6 has the 2^64 of its network. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = [], tail = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  // Where there is no `::`, none are missing.
  const missing = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...missing, ...tail].slice(0, 4).join(':')
}
