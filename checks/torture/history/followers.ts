/**
 * The second pass: walks with each follower through its pages, along the one order of all versions, and reports what it
 * got wrongly, and what it did not get.
 */
import type { Checkpoint, Line, Page, Read, Told } from './format.ts'
import { type Ledger, never } from './ledger.ts'

/** All versions in the order of the stream. */
interface Order {
  /** By position. */
  readonly versions: Uint32Array
  /** By version. */
  readonly places: Uint32Array
  /** The line from which the next version of the same row may exist. */
  readonly superseded: Float64Array
  /** By row, the lines of requests that may have moved it once, at any later time, unseen. */
  readonly hidden: ReadonlyMap<number, readonly number[]>
}

export function orderOf(ledger: Ledger): Order {
  const { versions, ids, history } = ledger
  const sorted = Uint32Array.from(versions.at.keys())
  const id = (version: number) => ids[versions.row[version] as number] as string
  sorted.sort((a, b) => {
    const apart = (versions.at[a] as number) - (versions.at[b] as number)
    if (apart !== 0) return apart
    return id(a) < id(b) ? -1 : 1
  })
  const places = new Uint32Array(sorted.length)
  sorted.forEach((version, place) => {
    places[version] = place
  })
  const superseded = new Float64Array(sorted.length).fill(never)
  for (const all of history) {
    all.slice(1).forEach((version, n) => {
      superseded[all[n] as number] = versions.asked[version] as number
    })
  }
  const hidden = new Map<number, number[]>()
  for (const { row, line, at } of movesUnseen(ledger)) {
    if (at === never) {
      hidden.set(row, [...(hidden.get(row) ?? []), line])
      continue
    }
    // With a known stamp, it moved the version before, and no other.
    const version = (history[row] as number[])[ledger.place(row, at) - 1]
    if (version === undefined) continue
    const known = superseded[version] as number
    // It may have been sent before that version existed, and have waited for it. The last version was never moved.
    const moved = Math.max(line, versions.asked[version] as number)
    if (known !== never) superseded[version] = Math.min(known, moved)
  }
  return { versions: sorted, places, superseded, hidden }
}

/** A change by a request that nobody may have seen. */
interface Move {
  readonly row: number
  /** Of the request. */
  readonly line: number
  /** The stamp of the result; `never` when unknown. */
  readonly at: number
}

/**
 * What asks may have made of rows before others moved them on, so that nobody was shown it: the version before was not
 * there any more, and the next that is known came later. Of an ask without an answer that is all that it may have done;
 * of one that was acknowledged, what it moved beside its own row.
 */
function* movesUnseen(ledger: Ledger): Iterable<Move> {
  const { asks, parents, versions } = ledger
  // A request makes one version of its own row: one that is known was not unseen.
  const known = new Set(versions.by)
  const children = new Map<number, number[]>()
  for (const [child, all] of parents) {
    for (const parent of all) children.set(parent, [...(children.get(parent) ?? []), child])
  }
  const reached = (row: number) => (row === -1 ? [] : [row, ...(children.get(row) ?? [])])
  for (const [n, outcome] of asks.outcome.entries()) {
    if (outcome === 'refused') continue
    const own = asks.row[n] as number
    const moves = reached(asks.touches[n] as number)
    if ((outcome === 'unknown' && !known.has(n)) || asks.op[n] === 'remove') moves.push(...reached(own))
    const at = outcome === 'unknown' ? never : stampOf(ledger, n)
    for (const row of moves) yield { row, line: asks.line[n] as number, at }
  }
}

/** The stamp of an acknowledged request's result, if it is known. */
function stampOf({ asks, history, versions }: Ledger, n: number): number {
  const told = asks.at[n] ?? null
  if (told !== null) return told
  const last = history[asks.row[n] as number]?.at(-1)
  return last !== undefined && versions.by[last] === -1 ? (versions.at[last] as number) : never
}

interface Reading {
  readonly line: number
  /** The position of the last version that was acknowledged by then. */
  readonly ceiling: number
  /** The page begins an empty copy. */
  readonly anew: boolean
}

interface Follower {
  readonly name: string
  readonly kinds: ReadonlySet<string>
  /** The version in its copy, by row. */
  readonly held: Map<number, number>
  readonly totals: Map<string, { count: number; sum: bigint }>
  /** Its cursor's position: that of the last version that it got. */
  cursor: number
  /** The previous page's cursor. */
  before: number
  /** The position of the requested page. */
  from: number
  reading: Reading | null
  /** The line of a first sync's first page: earlier removals are not reported. */
  began: number
  caughtUp: boolean
}

interface Walked {
  followers: number
  pages: number
  read: number
  again: number
  checkpoints: number
}

/** Follows all followers at once, line by line. */
export class Walk {
  readonly walked: Walked = { followers: 0, pages: 0, read: 0, again: 0, checkpoints: 0 }
  readonly #ledger: Ledger
  readonly #order: Order
  readonly #terms = new Map<number, bigint>()
  /** Versions that unanswered requests are assumed to have moved. */
  readonly #hidden = new Set<number>()
  /** By row, how many such requests are used up. */
  readonly #taken = new Map<number, number>()
  readonly #followers = new Map<string, Follower>()
  #line = 0
  #ceiling = -1

  constructor(ledger: Ledger, order: Order) {
    this.#ledger = ledger
    this.#order = order
  }

  take(line: Line): void {
    this.#line++
    switch (line.does) {
      case 'follow':
        this.walked.followers++
        this.#followers.set(line.follower, newFollower(line.follower, line.kinds))
        return
      case 'told':
        if (line.outcome === 'done') this.#acknowledged(line)
        return
      case 'read':
        this.#read(this.#follower(line.follower), line.from)
        return
      case 'page':
        this.#page(this.#follower(line.follower), line)
        return
      case 'ask':
      case 'mark':
      case 'stored':
        return
    }
  }

  /** After the last line. */
  end(): void {
    for (const { name, caughtUp } of this.#followers.values()) {
      if (!caughtUp) this.#fault('unfinished', `${name} never caught up after its last page`)
    }
  }

  #acknowledged({ n, version }: Told): void {
    const { asks, history } = this.#ledger
    const shown = asks.op[n] === 'remove' ? -1 : 0
    const made =
      version === undefined ? history[asks.row[n] as number]?.at(shown) : this.#ledger.versionOf(version)
    if (made !== undefined) this.#ceiling = Math.max(this.#ceiling, this.#order.places[made] as number)
  }

  #follower(name: string): Follower {
    const follower = this.#followers.get(name)
    if (follower === undefined) throw new Error(`line ${this.#line}: ${name} does not follow`)
    return follower
  }

  #read(follower: Follower, from: Read['from']): void {
    follower.reading = { line: this.#line, ceiling: this.#ceiling, anew: from === 'start' }
    if (from === 'start') follower.from = -1
    else if (from === 'next') follower.from = follower.cursor
    else if (from === 'again') {
      follower.from = follower.before
      this.walked.again++
    } else follower.from = this.#placeAfter(Date.parse(from.after))
  }

  /** The position of the last version that is not later than a watermark. */
  #placeAfter(time: number): number {
    const { versions } = this.#order
    let low = 0
    let high = versions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ledger.versions.at[versions[middle] as number] as number) <= time) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #page(follower: Follower, { versions, checkpoint }: Page): void {
    const { reading, from } = follower
    if (reading === null) throw new Error(`line ${this.#line}: ${follower.name} had asked for nothing`)
    follower.reading = null
    this.walked.pages++
    this.walked.read += versions.length
    if (reading.anew) {
      follower.held.clear()
      follower.totals.clear()
      follower.began = never
    }
    const given = new Set<number>()
    let last = from
    for (const one of versions) {
      const version = this.#ledger.versionOf(one)
      const place = this.#order.places[version] as number
      if (place <= last) {
        const known = given.has(version) || (place <= from && this.#holds(follower, version))
        const after = this.#ledger.describe(this.#order.versions[last] as number)
        const detail = `${follower.name} was given ${this.#ledger.describe(version)} after ${after}`
        this.#fault(known ? 'repeated' : 'reordered', detail)
      }
      this.#give(follower, version)
      given.add(version)
      last = Math.max(last, place)
    }
    this.#missing(follower, given, { reading, from, last, whole: checkpoint !== null })
    if (follower.began === never) follower.began = this.#line
    follower.before = from
    follower.cursor = last
    follower.caughtUp = checkpoint !== null
    if (checkpoint !== null) this.#proof(follower, checkpoint)
  }

  #holds({ held }: Follower, version: number): boolean {
    return held.get(this.#ledger.versions.row[version] as number) === version
  }

  /** Applies one record to the copy. */
  #give(follower: Follower, version: number): void {
    const row = this.#ledger.versions.row[version] as number
    if (!follower.kinds.has(this.#ledger.kinds[row] as string)) {
      this.#fault('invented', `${follower.name} was given ${this.#ledger.describe(version)}, of another kind`)
    }
    this.#hold(follower, row, version)
  }

  #hold({ held, totals }: Follower, row: number, version: number): void {
    const kind = this.#ledger.kinds[row] as string
    const total = totals.get(kind) ?? { count: 0, sum: 0n }
    totals.set(kind, total)
    const before = held.get(row)
    if (before !== undefined && this.#ledger.versions.by[before] !== -1) {
      total.count--
      total.sum -= this.#term(before)
    }
    if (this.#ledger.versions.by[version] === -1) held.delete(row)
    else {
      held.set(row, version)
      total.count++
      total.sum += this.#term(version)
    }
  }

  #term(version: number): bigint {
    const known = this.#terms.get(version) ?? this.#ledger.term(version)
    this.#terms.set(version, known)
    return known
  }

  /**
   * Versions that certainly existed when the page was read, and that it passes over: all up to its last record and, on
   * a last page, all that had been acknowledged.
   */
  #missing(
    follower: Follower,
    given: ReadonlySet<number>,
    page: {
      readonly reading: Reading
      readonly from: number
      readonly last: number
      readonly whole: boolean
    },
  ): void {
    const { versions } = this.#ledger
    const end = page.whole ? Math.max(page.last, page.reading.ceiling) : page.last
    for (let place = page.from + 1; place <= end; place++) {
      const version = this.#order.versions[place] as number
      if (given.has(version) || !this.#isDue(follower, version)) continue
      const beyond = place > page.last
      if (beyond && (versions.told[version] as number) > page.reading.line) continue
      if (!beyond && this.#mayBeHidden(version)) continue
      const detail = `${follower.name} went past ${this.#ledger.describe(version)}`
      this.#fault(beyond ? 'unseen' : 'lost', detail)
    }
  }

  /**
   * Whether an unanswered request may have moved a version before the page was read. Each may have moved one version of
   * a row; a last page would have shown the result.
   */
  #mayBeHidden(version: number): boolean {
    if (this.#hidden.has(version)) return true
    // The last version was never moved: it exists at the end.
    if (this.#order.superseded[version] === never) return false
    const row = this.#ledger.versions.row[version] as number
    const taken = this.#taken.get(row) ?? 0
    // In the order in which they were sent: the first that is left.
    const sent = this.#order.hidden.get(row)?.[taken] ?? never
    if (sent > this.#line) return false
    this.#taken.set(row, taken + 1)
    this.#hidden.add(version)
    return true
  }

  /** Whether a follower has to get a version, unless a later one has replaced it. */
  #isDue({ kinds, held, began }: Follower, version: number): boolean {
    const { versions, kinds: kindOf } = this.#ledger
    const row = versions.row[version] as number
    if (!kinds.has(kindOf[row] as string)) return false
    if ((this.#order.superseded[version] as number) < this.#line) return false
    if (versions.by[version] !== -1 || held.has(row)) return true
    // A first sync reports no removals from before it began, of rows that it does not have.
    return (versions.asked[version] as number) > began
  }

  #proof(follower: Follower, checkpoint: Readonly<Record<string, Checkpoint>>): void {
    this.walked.checkpoints++
    for (const kind of follower.kinds) {
      const { count, sum } = follower.totals.get(kind) ?? { count: 0, sum: 0n }
      const digest = BigInt.asUintN(64, sum).toString(16).padStart(16, '0')
      const told = checkpoint[kind]
      if (told?.count === count && told.digest === digest) continue
      const held = JSON.stringify({ count, digest })
      this.#fault('checkpoint', `${follower.name} holds ${held} of ${kind}, told ${JSON.stringify(told)}`)
    }
  }

  #fault(sort: Parameters<Ledger['faults']['add']>[0], detail: string): void {
    this.#ledger.faults.add(sort, this.#line, detail)
  }
}

function newFollower(name: string, kinds: readonly string[]): Follower {
  return {
    name,
    kinds: new Set(kinds),
    held: new Map(),
    totals: new Map(),
    cursor: -1,
    before: -1,
    from: -1,
    reading: null,
    began: never,
    caughtUp: false,
  }
}
