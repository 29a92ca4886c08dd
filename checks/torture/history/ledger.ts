/**
 * The first pass: every known version and every request, as columns of numbers, so that a million changes with twenty
 * followers fit into memory.
 */
import { createHash } from 'node:crypto'
import type { Ask, Line, Operation, Told, Version } from './format.ts'
import { Faults } from './verdict.ts'

/** A moment that did not come. */
export const never = Number.POSITIVE_INFINITY

/** Of a request. */
type Outcome = 'unknown' | 'done' | 'refused'

/** Columns by the version's number. */
class Versions {
  /** Its row's number. */
  readonly row: number[] = []
  readonly at: number[] = []
  /** Of its bytes. */
  readonly hash: string[] = []
  /** The request whose text it has; -1: a removal record. */
  readonly by: number[] = []
  /** The line that first showed it. */
  readonly first: number[] = []
  /** The line of its acknowledgement. */
  readonly told: number[] = []
  /** The line before which it cannot exist. */
  readonly asked: number[] = []
}

class Asks {
  readonly line: number[] = []
  readonly op: Operation[] = []
  readonly kind: string[] = []
  /** Its row; -1 while the row that a creation made is unknown. */
  readonly row: number[] = []
  /** The row that it also moves; -1 for none. */
  readonly touches: number[] = []
  /** The latest stamp that was known when it was sent. */
  readonly floor: number[] = []
  readonly outcome: Outcome[] = []
  readonly toldLine: number[] = []
  /** The stamp of its result, if it is known. */
  readonly at: (number | null)[] = []
}

export class Ledger {
  readonly faults = new Faults()
  readonly versions = new Versions()
  readonly asks = new Asks()
  readonly ids: string[] = []
  readonly kinds: string[] = []
  /** Of each row, its versions in the order of their stamps. */
  readonly history: number[][] = []
  /** Rows that a row has ever belonged to. */
  readonly parents = new Map<number, readonly number[]>()
  /** The versions in the database at the end; null: not in the history. */
  stored: Set<number> | null = null
  lines = 0
  marks = 0
  #rows = new Map<string, number>()
  #latest = Number.NEGATIVE_INFINITY

  /** Adds the next line. */
  take(line: Line): void {
    this.lines++
    switch (line.does) {
      case 'ask':
        this.#ask(line)
        return
      case 'told':
        this.#told(line)
        return
      case 'page':
        for (const version of line.versions) this.#observe(version)
        return
      case 'stored':
        this.stored ??= new Set()
        for (const version of line.versions) this.stored.add(this.#observe(version))
        return
      case 'mark':
        this.marks++
        return
      case 'follow':
      case 'read':
        return
    }
  }

  rowOf(id: string): number {
    const known = this.#rows.get(id)
    if (known !== undefined) return known
    const row = this.ids.length
    this.#rows.set(id, row)
    this.ids.push(id)
    this.kinds.push('')
    this.history.push([])
    return row
  }

  /** The version of a record that was added. */
  versionOf([, id, at]: Version): number {
    const row = this.rowOf(id)
    const time = Date.parse(at)
    const found = this.history[row]?.[this.place(row, time)]
    if (found === undefined || this.versions.at[found] !== time) throw new Error(`${id} at ${at} is unknown`)
    return found
  }

  /** For people. */
  describe(version: number): string {
    const row = this.versions.row[version] as number
    const at = new Date(this.versions.at[version] as number).toISOString()
    return `${this.kinds[row]} ${this.ids[row]} at ${at}`
  }

  /** An existing row's term of the digest (specification 7.8). */
  term(version: number): bigint {
    const id = this.ids[this.versions.row[version] as number]
    const at = new Date(this.versions.at[version] as number).toISOString()
    return createHash('sha256').update(`${id}:${at}`).digest().readBigUInt64BE(0)
  }

  #ask({ n, op, kind, id, touches }: Ask): void {
    const { asks } = this
    if (n !== asks.line.length) {
      throw new Error(
        `line ${this.lines}: asks count from 0 without gaps; got ${n}, expected ${asks.line.length}`,
      )
    }
    asks.line.push(this.lines)
    asks.op.push(op)
    asks.kind.push(kind)
    asks.row.push(id === undefined ? -1 : this.rowOf(id))
    asks.touches.push(touches === undefined ? -1 : this.rowOf(touches))
    asks.floor.push(this.#latest)
    asks.outcome.push('unknown')
    asks.toldLine.push(never)
    asks.at.push(null)
  }

  #told({ n, outcome, version, id }: Told): void {
    const { asks, faults, lines } = this
    if (asks.line[n] === undefined) throw new Error(`line ${lines}: ask ${n} was never made`)
    asks.outcome[n] = outcome
    if (outcome !== 'done') return
    asks.toldLine[n] = lines
    if (id !== undefined) asks.row[n] = this.rowOf(id)
    if (version === undefined) return
    const shown = this.#observe(version)
    const at = this.versions.at[shown] as number
    asks.at[n] = at
    if (version[4] !== n)
      faults.add('invented', lines, `ask ${n} was answered with words of ask ${version[4]}`)
    if (at <= (asks.floor[n] as number)) {
      const floor = new Date(asks.floor[n] as number).toISOString()
      faults.add('reordered', lines, `${this.describe(shown)} was asked for after ${floor} had been seen`)
    }
  }

  #observe([kind, id, at, hash, by, of]: Version): number {
    const { versions, faults, lines } = this
    const row = this.rowOf(id)
    const time = Date.parse(at)
    if (time > this.#latest) this.#latest = time
    if (this.kinds[row] === '') this.kinds[row] = kind
    else if (this.kinds[row] !== kind)
      faults.add('changed', lines, `${id} is a ${this.kinds[row]}, and a ${kind}`)
    if (of !== undefined) this.#belongs(row, of)
    const place = this.place(row, time)
    const all = this.history[row] as number[]
    const known = all[place]
    if (known !== undefined && versions.at[known] === time) {
      if (versions.hash[known] !== hash || versions.by[known] !== (by ?? -1)) {
        const detail = `${this.describe(known)} has bytes ${hash}, and ${versions.hash[known]} before`
        faults.add('changed', lines, detail)
      }
      return known
    }
    const version = versions.at.length
    all.splice(place, 0, version)
    versions.row.push(row)
    versions.at.push(time)
    versions.hash.push(hash)
    versions.by.push(by ?? -1)
    versions.first.push(lines)
    versions.told.push(never)
    versions.asked.push(never)
    return version
  }

  #belongs(row: number, of: readonly string[]): void {
    const known = this.parents.get(row) ?? []
    const more = of.map((id) => this.rowOf(id)).filter((parent) => !known.includes(parent))
    if (more.length > 0) this.parents.set(row, [...known, ...more])
  }

  /** The index of a stamp in its row's history. */
  place(row: number, at: number): number {
    const all = this.history[row] as number[]
    let low = 0
    let high = all.length
    // Usually the last, or after it.
    const last = all.at(-1)
    if (last === undefined || (this.versions.at[last] as number) < at) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.versions.at[all[middle] as number] as number) < at) low = middle + 1
      else high = middle
    }
    return low
  }
}
