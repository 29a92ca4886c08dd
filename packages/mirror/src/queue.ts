/** Runs one piece of work after another, in the order of the calls. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles as the work does. A failure does not stop others. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}
