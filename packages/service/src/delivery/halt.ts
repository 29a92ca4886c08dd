/**
 * How a worker that is told to stop ends its rounds: at once no attempt is begun any more, and later, if it must
 * be, those under way are no longer waited for.
 */
export class Halt {
  #requested = false
  #overdue = false
  readonly #waiting = new Set<() => void>()

  /** No attempt is to be begun any more. */
  get requested(): boolean {
    return this.#requested
  }

  /** Those under way are not to be waited for any more. */
  get overdue(): boolean {
    return this.#overdue
  }

  /** From now on no attempt is begun. */
  request(): void {
    this.#requested = true
  }

  /** From now on nobody waits for attempts under way. */
  cut(): void {
    this.#requested = true
    this.#overdue = true
    for (const leave of this.#waiting) leave()
  }

  /** Waits for the work, but not past the cut. Rejects when the work does before that. */
  async wait(work: Promise<unknown>): Promise<void> {
    const { promise: cut, resolve: leave } = Promise.withResolvers<void>()
    // Held by this wait alone: a promise for all of them would keep each one's reaction until the end.
    this.#waiting.add(leave)
    if (this.#overdue) leave()
    try {
      await Promise.race([work, cut])
    } finally {
      this.#waiting.delete(leave)
    }
  }
}
