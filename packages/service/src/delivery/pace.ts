/**
 * A pace for queues of a class that may hold up others, as each may have a handshake to make: those that were found begin one after
 * another, and no more are searched for meanwhile.
 */
import { stopwatch } from '../kernel/timestamps.ts'
import type { DueQueue } from './model.ts'

interface PaceLimits {
  readonly apart: number
  readonly atLeast?: number
}

export class Pace {
  readonly #apart: number
  readonly #atLeast: number
  readonly #onOpen: () => void
  readonly #elapsed = stopwatch()
  #closedUntil = 0
  #timer: NodeJS.Timeout | null = null

  /**
   * Milliseconds from one beginning to the next, and from one search to the next at least. `onOpen` is called when more may be searched for, if somebody asked before.
   */
  constructor({ apart, atLeast = 0 }: PaceLimits, onOpen: () => void) {
    this.#apart = apart
    this.#atLeast = atLeast
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

  /** To be called with what a search found, be it nothing. */
  begin(found: readonly DueQueue[], begin: (queue: DueQueue) => void): void {
    if (found.length === 0 && this.#atLeast === 0) return
    const apart = this.#apart
    this.#closedUntil = this.#elapsed() + Math.max(this.#atLeast, found.length * apart)
    found.forEach((queue, n) => {
      if (n === 0) begin(queue)
      else setTimeout(begin, n * apart, queue)
    })
  }

  /** Calls nobody any more. What was found begins all the same. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
