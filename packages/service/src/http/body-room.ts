/**
 * Room for the bodies of requests, from before their first byte is read until they are answered. An organization may hold as
 * much as is still free, and one key of it half of that; what does not fit yet waits, with its connection unread, so
 * that TCP holds the sender back. Small bodies have room of their own: what is large keeps no small change waiting.
 */
import { Budget, ShareExceeded, type Taken } from '../kernel/budget.ts'

/** Whose body it is. */
export interface Holder {
  readonly organizationId: string
  readonly apiKeyId: string
}

export interface RoomLimits {
  /** Bytes of all large bodies. */
  readonly large: number
  /** Bytes of all small ones. */
  readonly small: number
  /** Up to so many bytes a body is small. */
  readonly smallBody: number
  /** How long a body waits for room, in milliseconds. */
  readonly waitAtMost: number
}

const mebibyte = 1024 * 1024

/** Two batches of 16 MiB at once of one organization that is alone; a third of another's fits beside them. */
export const roomLimits: RoomLimits = {
  large: 64 * mebibyte,
  small: 16 * mebibyte,
  smallBody: 64 * 1024,
  waitAtMost: 30_000,
}

/** Gives the room back; what is called twice does nothing the second time. */
export type GiveBack = () => void

interface Waiting {
  readonly holder: Holder
  readonly bytes: number
  readonly settle: (giveBack: GiveBack) => void
}

export class BodyRoom {
  readonly #limits: RoomLimits
  readonly #large: Budget
  readonly #small: Budget
  /** Bytes of large bodies that each key holds. */
  readonly #keys = new Map<string, number>()
  /** Those that wait, of each key in their order; the key that was served longest ago first. */
  readonly #queues = new Map<string, Waiting[]>()
  /** Somebody waits who holds no more than others: nobody goes past. */
  #isFull = false

  constructor(limits: RoomLimits = roomLimits) {
    this.#limits = limits
    this.#large = new Budget(limits.large)
    this.#small = new Budget(limits.small)
  }

  /** Bytes held by all. */
  get held(): number {
    return this.#large.taken + this.#small.taken
  }

  /** Bodies that wait. */
  get waiting(): number {
    let count = 0
    for (const queue of this.#queues.values()) count += queue.length
    return count
  }

  /**
   * Calls back with the room, at once or when there is some, or with a ShareExceeded when there was none for long. The
   * answer is to be called when nobody is there any more to send the body.
   */
  hold(holder: Holder, bytes: number, settle: (got: GiveBack | ShareExceeded) => void): GiveBack {
    // Large ones wait in their order; small ones have room of their own.
    const mayPass = bytes <= this.#limits.smallBody || !(this.#queues.has(holder.apiKeyId) || this.#isFull)
    const taken = mayPass ? this.#take(holder, bytes) : 'own_share'
    if (typeof taken === 'function') {
      settle(taken)
      return () => {}
    }
    const leave = () => {
      clearTimeout(timer)
      this.#remove(waiting)
    }
    const timer = setTimeout(() => {
      leave()
      // What it is short of now, and not when it came.
      const taken = this.#take(holder, bytes)
      settle(typeof taken === 'function' ? taken : new ShareExceeded(taken, 'body_bytes'))
    }, this.#limits.waitAtMost)
    const waiting: Waiting = {
      holder,
      bytes,
      settle(giveBack) {
        clearTimeout(timer)
        settle(giveBack)
      },
    }
    const queue = this.#queues.get(holder.apiKeyId) ?? []
    queue.push(waiting)
    this.#queues.set(holder.apiKeyId, queue)
    if (taken === 'all_taken') this.#isFull = true
    return leave
  }

  #take({ organizationId, apiKeyId }: Holder, bytes: number): GiveBack | Exclude<Taken, 'taken'> {
    if (bytes <= this.#limits.smallBody && this.#small.take(organizationId, bytes) === 'taken') {
      return this.#once(() => this.#small.give(organizationId, bytes))
    }
    const ofKey = this.#keys.get(apiKeyId) ?? 0
    const room = this.#large.limitOf(organizationId) - this.#large.heldBy(organizationId) - bytes
    if (ofKey > 0 && ofKey + bytes > room) return 'own_share'
    const taken = this.#large.take(organizationId, bytes)
    if (taken !== 'taken') return taken
    this.#keys.set(apiKeyId, ofKey + bytes)
    return this.#once(() => {
      this.#large.give(organizationId, bytes)
      const left = (this.#keys.get(apiKeyId) ?? 0) - bytes
      if (left === 0) this.#keys.delete(apiKeyId)
      else this.#keys.set(apiKeyId, left)
    })
  }

  #once(give: () => void): GiveBack {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      give()
      this.#serve()
    }
  }

  /** One of each key in turn, for as long as there is room. */
  #serve(): void {
    this.#isFull = false
    for (const [apiKeyId, queue] of [...this.#queues]) {
      const [next] = queue
      if (next === undefined) continue
      if (this.#isFull && next.bytes > this.#limits.smallBody) continue
      const taken = this.#take(next.holder, next.bytes)
      if (taken === 'all_taken') this.#isFull = true
      if (typeof taken !== 'function') continue
      queue.shift()
      this.#queues.delete(apiKeyId)
      if (queue.length > 0) this.#queues.set(apiKeyId, queue)
      next.settle(taken)
    }
  }

  #remove(waiting: Waiting): void {
    const { apiKeyId } = waiting.holder
    const queue = this.#queues.get(apiKeyId)
    const at = queue?.indexOf(waiting) ?? -1
    if (queue === undefined || at === -1) return
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(apiKeyId)
    // Others may have stood behind it.
    this.#serve()
  }
}
