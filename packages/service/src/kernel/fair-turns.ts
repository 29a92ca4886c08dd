/**
 * Who goes next where only so many can at once and none can be interrupted. Each party waits in a queue of its own; a
 * place that becomes free goes to the party that has had the least time of those that wait (start-time fair queueing,
 * with times as they were measured). A party that comes back begins level with the one that went last: it neither owes
 * for what was before nor is owed anything.
 *
 * Since a turn may last, a party takes another place only while it holds fewer than twice as many as are free: alone it gets
 * two thirds, two get two fifths each, and there is one for a newcomer as long as few of them hold very many. Long turns
 * have fewer places within these, by the same rule without the factor. Turns that are for several parties at once go
 * first, in places of their own number.
 *
 * A place is not all that a turn takes: whatever serves it works for all places at once. So a party whose turns are long on average
 * has one at a time while others have turns as well, whether or not any of them waits; and so have all with turns known to be long.
 *
 * No timer and nothing asynchronous in here: whoever asks says how long a turn took.
 */
import { stopwatch } from './timestamps.ts'

export interface TurnLimits {
  /** Turns under way at once. */
  readonly places: number
  /** Of these at most, turns that are known to be long. */
  readonly longPlaces: number
  /** Of these at most, turns for several parties at once. */
  readonly commonPlaces: number
}

/** `common`: for several parties at once. */
export type Sort = 'short' | 'long' | 'common'

/** By how many milliseconds turns are longer on average than the shortest of all, so that a party has one at a time beside others. */
const heavyFrom = 20
/** What the last turn counts for in that average. */
const weightOfLast = 1 / 8
/** By which part of what another takes the shortest grows: of the last thousand or so. */
const forgetsShortest = 1 / 1_000
/** Milliseconds after the last turn of another until a party is alone. */
const aloneAfter = 1_000

interface Party {
  readonly name: string
  /** Time that it has had, in the unit that `end` is told; what is under way is counted as its last turn was. */
  used: number
  lastTook: number
  /** What its short turns took lately, on average; null before the first has ended, as anything may come. */
  mean: number | null
  held: number
  longHeld: number
  readonly short: Waiting[]
  readonly long: Waiting[]
}

/** A turn that is under way. */
export interface Turn {
  readonly sort: Sort
  readonly party: Party | null
  /** What it was counted as beforehand. */
  readonly expected: number
}

/** A turn that is waited for. */
export interface Waiting {
  readonly sort: Sort
  readonly party: Party | null
  readonly number: number
  readonly begin: (turn: Turn) => void
}

/** Who was there lately, as far as it takes to say whether somebody is alone. */
export class Company {
  readonly #within: number
  readonly #elapsed: () => number
  /** Who came last, and the last of anybody else before that: with when it was. */
  #last = { name: '', at: Number.NEGATIVE_INFINITY }
  #lastOther = { name: '', at: Number.NEGATIVE_INFINITY }

  /** Whoever was there within so many milliseconds counts. */
  constructor(within: number, elapsed: () => number) {
    this.#within = within
    this.#elapsed = elapsed
  }

  note(name: string): void {
    if (this.#last.name !== name) this.#lastOther = this.#last
    this.#last = { name, at: this.#elapsed() }
  }

  /** Whether anybody else was there. */
  hasOthers(name: string): boolean {
    const other = this.#last.name === name ? this.#lastOther : this.#last
    return this.#elapsed() - other.at <= this.#within
  }
}

export class FairTurns {
  readonly #limits: TurnLimits
  readonly #parties = new Map<string, Party>()
  /** Those with something in their queues. */
  readonly #waitingParties = new Set<Party>()
  readonly #common: Waiting[] = []
  #held = 0
  #longHeld = 0
  #commonHeld = 0
  #waiting = 0
  #lastNumber = 0
  /** Where the party stood that went last, the least of those that waited. */
  #level = 0
  /** The shortest of the short turns lately: no party can help it, as with a database that is far. */
  #shortest = Number.POSITIVE_INFINITY
  /** Whose turns began lately. */
  readonly #company: Company

  /** `elapsed`: milliseconds that only grow. */
  constructor(limits: TurnLimits, elapsed: () => number = stopwatch()) {
    this.#limits = limits
    this.#company = new Company(aloneAfter, elapsed)
  }

  /** Turns under way. */
  get underWay(): number {
    return this.#held
  }

  /** Whether it waits for turns of its own party, while others have places left. */
  waitsForItsOwn({ party, sort }: Waiting): boolean {
    if (party === null || this.#held >= this.#limits.places) return false
    return (sort === 'long' ? party.longHeld : party.held) > 0
  }

  /** Turns that are waited for. */
  get waiting(): number {
    return this.#waiting
  }

  /** A turn at once, or null: then it is to be waited for. */
  begin(name: string, sort: Sort): Turn | null {
    if (sort === 'common') {
      return this.#common.length === 0 && this.#hasCommonPlace() ? this.#start(null, sort) : null
    }
    const known = this.#parties.get(name)
    // Not past what waits, unless that cannot go.
    if (known !== undefined && this.#queueOf(known, sort).length > 0) return null
    const party = known ?? this.#join(name)
    if (this.#hasPlaceFor(party, sort)) {
      this.#raise(party)
      // Going ahead of others who have had less, but have no place now, is no measure for those who come next.
      if (this.#waiting === 0) this.#level = party.used
      return this.#start(party, sort)
    }
    if (known === undefined) this.#parties.delete(name)
    return null
  }

  /** Waits for a turn: `begin` is called with it, by whoever's end makes it possible. */
  wait(name: string, sort: Sort, begin: (turn: Turn) => void): Waiting {
    const party = sort === 'common' ? null : (this.#parties.get(name) ?? this.#join(name))
    const waiting = { sort, party, number: ++this.#lastNumber, begin }
    this.#waiting++
    if (party === null) this.#common.push(waiting)
    else {
      if (!this.#waitingParties.has(party)) this.#raise(party)
      this.#queueOf(party, sort).push(waiting)
      this.#waitingParties.add(party)
    }
    return waiting
  }

  /** Waits no longer. Nothing for one whose turn has begun. */
  leave(waiting: Waiting): void {
    const { party, sort } = waiting
    const queue = party === null ? this.#common : this.#queueOf(party, sort)
    const at = queue.indexOf(waiting)
    if (at === -1) return
    queue.splice(at, 1)
    this.#left(party)
  }

  /** The turn is over, and took so long. Begins those that can go now. */
  end({ party, sort, expected }: Turn, took: number): void {
    this.#held--
    if (party === null) this.#commonHeld--
    else {
      party.held--
      party.used += took - expected
      party.lastTook = took
      if (sort === 'short') this.#measure(party, took)
      if (sort === 'long') {
        party.longHeld--
        this.#longHeld--
      }
    }
    this.#beginNext()
    if (this.#waiting === 0) this.#forget(party)
  }

  #beginNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { party, sort } = next
      ;(party === null ? this.#common : this.#queueOf(party, sort)).shift()
      if (party !== null) this.#level = Math.max(this.#level, party.used)
      const turn = this.#start(party, sort)
      this.#left(party)
      next.begin(turn)
    }
  }

  /** Of those that can go, the next of the party that has had the least. */
  #next(): Waiting | null {
    const [common] = this.#common
    if (common !== undefined && this.#hasCommonPlace()) return common
    let found: Waiting | null = null
    let least = Number.POSITIVE_INFINITY
    for (const party of this.#waitingParties) {
      if (party.used >= least) continue
      const [short] = this.#hasPlaceFor(party, 'short') ? party.short : []
      const [long] = this.#hasPlaceFor(party, 'long') ? party.long : []
      const next = short === undefined || (long !== undefined && long.number < short.number) ? long : short
      if (next === undefined) continue
      found = next
      least = party.used
    }
    return found
  }

  #start(party: Party | null, sort: Sort): Turn {
    this.#held++
    if (party === null) {
      this.#commonHeld++
      return { party, sort, expected: 0 }
    }
    this.#company.note(party.name)
    party.held++
    if (sort === 'long') {
      party.longHeld++
      this.#longHeld++
    }
    const expected = party.lastTook
    party.used += expected
    return { party, sort, expected }
  }

  #hasPlaceFor(party: Party, sort: 'short' | 'long'): boolean {
    if (party.held >= 2 * (this.#limits.places - this.#held)) return false
    return sort === 'short' ? this.#hasShortPlace(party) : this.#hasLongPlace(party)
  }

  #measure(party: Party, took: number): void {
    party.mean = party.mean === null ? took : party.mean + (took - party.mean) * weightOfLast
    this.#shortest =
      took <= this.#shortest ? took : this.#shortest + (took - this.#shortest) * forgetsShortest
  }

  #hasShortPlace(party: Party): boolean {
    return (
      party.held === party.longHeld ||
      (party.mean !== null && party.mean < this.#shortest + heavyFrom) ||
      this.#isAlone(party)
    )
  }

  #isAlone({ name }: Party): boolean {
    return !this.#company.hasOthers(name)
  }

  #hasLongPlace(party: Party): boolean {
    if (party.longHeld > 0 && !this.#isAlone(party)) return false
    return party.longHeld < this.#limits.longPlaces - this.#longHeld
  }

  #hasCommonPlace(): boolean {
    return this.#held < this.#limits.places && this.#commonHeld < this.#limits.commonPlaces
  }

  #queueOf(party: Party, sort: Sort): Waiting[] {
    return sort === 'long' ? party.long : party.short
  }

  #join(name: string): Party {
    const party = {
      name,
      used: this.#level,
      lastTook: 0,
      mean: null,
      held: 0,
      longHeld: 0,
      short: [],
      long: [],
    }
    this.#parties.set(name, party)
    return party
  }

  /** Time in which it asked for nothing is not owed to it. */
  #raise(party: Party): void {
    if (party.used < this.#level) party.used = this.#level
  }

  #left(party: Party | null): void {
    this.#waiting--
    if (party !== null && party.short.length + party.long.length === 0) this.#waitingParties.delete(party)
    if (this.#waiting === 0) for (const idle of this.#parties.values()) this.#forget(idle)
  }

  /** While nobody waits, nobody has had more than is good for others. */
  #forget(party: Party | null): void {
    if (party !== null && party.held === 0) this.#parties.delete(party.name)
  }
}
