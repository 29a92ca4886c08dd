/**
 * A pace for queues of a class that may hold up others, as each may have a handshake to make: those that were found begin one after
 * another, and no more are searched for meanwhile.
 */
import { stopwatch } from '../kernel/timestamps.ts'
import type { DueQueue } from './model.ts'

export interface PaceLimits {
  readonly apart: () => number
  readonly atLeast?: number
  readonly ahead?: number
}

export class Pace {
  readonly #apart: () => number
  readonly #atLeast: number
  readonly #ahead: number
  readonly #onOpen: () => void
  readonly #elapsed = stopwatch()
  #closedUntil = 0
  #timer: NodeJS.Timeout | null = null

  /**
   * Milliseconds from one beginning to the next, and from one search to the next at least; of what a search found no more begins than
   * within `ahead` does. `onOpen` is called when more may be searched for, if somebody asked before.
   */
  constructor({ apart, atLeast = 0, ahead = Number.POSITIVE_INFINITY }: PaceLimits, onOpen: () => void) {
    this.#apart = apart
    this.#atLeast = atLeast
    this.#ahead = ahead
    this.#onOpen = onOpen
  }

  /** Whether more may be searched for now. */
  ask(): boolean {
    const wait = this.#closedUntil - this.#elapsed()
    if (wait <= 0) return true
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#onOpen()
    }, wait)
    return false
  }

  /** To be called with what a search found, be it nothing. Whether some do not begin, and are to be searched for again. */
  begin(found: readonly DueQueue[], begin: (queue: DueQueue) => void): boolean {
    if (found.length === 0 && this.#atLeast === 0) return false
    const apart = this.#apart()
    const begun = found.slice(0, Math.max(1, Math.floor(this.#ahead / apart)))
    this.#closedUntil = this.#elapsed() + Math.max(this.#atLeast, begun.length * apart)
    begun.forEach((queue, n) => {
      if (n === 0) begin(queue)
      else setTimeout(begin, n * apart, queue)
    })
    return begun.length < found.length
  }

  /** Calls nobody any more. What was found begins all the same. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
