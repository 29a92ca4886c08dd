/** So many at once, the others in the order in which they came. */
import type { Deadline } from './deadlines.ts'

export class Limit {
  readonly #most: number
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#most = most
  }

  /** False when the deadline passed first; otherwise `leave` is to be called once. */
  enter(deadline: Deadline): boolean | Promise<boolean> {
    if (this.#taken < this.#most) {
      this.#taken++
      return true
    }
    return new Promise((resolve) => {
      const turn = () => {
        deadline.onPass = null
        resolve(true)
      }
      deadline.onPass = () => {
        this.#waiting.delete(turn)
        resolve(false)
      }
      this.#waiting.add(turn)
      if (deadline.passed) deadline.onPass()
    })
  }

  leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken--
      return
    }
    // The place goes from hand to hand, so nobody can slip in between.
    this.#waiting.delete(next)
    next()
  }
}
