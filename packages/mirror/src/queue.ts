/** Runs one piece of work after the other, in the order in which they were asked for. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles as the work does. What fails holds up nobody. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}
