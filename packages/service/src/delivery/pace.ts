/**
 * A pace for queues of a class that may hold up others, as each may have a handshake to make: those that were found begin one after
 * another, and no more are searched for meanwhile.
 */
import { stopwatch } from '../kernel/timestamps.ts'
import type { DueQueue } from './model.ts'

export class Pace {
  readonly #apart: number
  readonly #onOpen: () => void
  readonly #elapsed = stopwatch()
  #closedUntil = 0
  #timer: NodeJS.Timeout | null = null

  /** Milliseconds from one beginning to the next. `onOpen` is called when more may be searched for, if that was asked before. */
  constructor(apart: number, onOpen: () => void) {
    this.#apart = apart
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
    const apart = this.#apart
    this.#closedUntil = this.#elapsed() + found.length * apart
    found.forEach((queue, n) => {
      if (n === 0) begin(queue)
      else setTimeout(begin, n * apart, queue)
    })
  }

  /** Calls `onOpen` no more. Queues that were found begin all the same. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
