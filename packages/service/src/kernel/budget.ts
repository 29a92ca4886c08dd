/**
 * Shares: how much of one thing each organization may hold at once: at most as much as is still free for others. Nobody
 * has to be told how many there are: whoever is alone holds up to half, each of two a third, and a newcomer finds room
 * while somebody else holds plenty. What is over that is refused, and whoever gives back makes room for all.
 */

/** Whether it was taken; or the holder itself has its share already, or so many hold theirs that nothing is left. */
export type Taken = 'taken' | 'own_share' | 'all_taken'

export class Budget {
  readonly total: number
  readonly #holders = new Map<string, number>()
  #taken = 0

  constructor(total: number) {
    this.total = total
  }

  /** What all of them hold. */
  get taken(): number {
    return this.#taken
  }

  heldBy(who: string): number {
    return this.#holders.get(who) ?? 0
  }

  /** The most that this holder could have just now: as much as would then be free. */
  limitOf(who: string): number {
    return (this.total - this.#taken + this.heldBy(who)) / 2
  }

  /** What `take` would answer. */
  wouldTake(who: string, amount: number): Taken {
    const held = this.heldBy(who) + amount
    if (held <= this.total - this.#taken - amount) return 'taken'
    const evenShare = this.total / (this.#holders.size + (this.#holders.has(who) ? 1 : 2))
    return held > amount && held > evenShare ? 'own_share' : 'all_taken'
  }

  /** Takes `amount`, or nothing. One holder never gets more than half of the total, so no single amount may be larger. */
  take(who: string, amount: number): Taken {
    const taken = this.wouldTake(who, amount)
    if (taken !== 'taken') return taken
    this.#holders.set(who, this.heldBy(who) + amount)
    this.#taken += amount
    return 'taken'
  }

  /** Gives back what was taken. */
  give(who: string, amount: number): void {
    const held = this.heldBy(who) - amount
    if (held < 0) throw new Error('more was given back than was taken')
    if (held === 0) this.#holders.delete(who)
    else this.#holders.set(who, held)
    this.#taken -= amount
  }
}

/** What organizations share. */
export type Shared = 'requests' | 'readers' | 'statements' | 'database_time' | 'body_bytes' | 'answer_bytes'

/**
 * Thrown where something cannot be had within its share: `own_share` is answered with 429, `all_taken` with 503. Nothing has
 * been done then.
 */
export class ShareExceeded extends Error {
  readonly reason: Exclude<Taken, 'taken'>
  readonly what: Shared

  constructor(reason: Exclude<Taken, 'taken'>, what: Shared) {
    super(`${reason}: ${what}`)
    this.reason = reason
    this.what = what
  }
}
