/** Begins queues one after another, as each may need a handshake that holds up others, and lets no search run meanwhile. */
import { stopwatch } from '../kernel/timestamps.ts'
import type { DueQueue } from './model.ts'

export class Pace {
  readonly #apart: number
  readonly #onOpen: () => void
  readonly #elapsed = stopwatch()
  #closedUntil = 0
  #timer: NodeJS.Timeout | null = null

  /** `apart`: milliseconds from one beginning to the next. `onOpen` is called when searching is allowed again, if `ask` refused it. */
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

  /** To be called with what a search found, even if that is nothing. */
  begin(found: readonly DueQueue[], begin: (queue: DueQueue) => void): void {
    const apart = this.#apart
    this.#closedUntil = this.#elapsed() + found.length * apart
    found.forEach((queue, n) => {
      if (n === 0) begin(queue)
      else setTimeout(begin, n * apart, queue)
    })
  }

  /** No more calls of `onOpen`. Queues that were found still begin. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
