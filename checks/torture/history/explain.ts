/**
 * Explains every version by requests ("asks"): each is the result of one, or was moved by one. That gives the line
 * before which a version cannot exist, and the line by which it certainly does.
 */
import { type Ledger, never } from './ledger.ts'

/** Fills `asked` and `told` of all versions, and adds versions that no request explains. */
export function explain(ledger: Ledger): void {
  const causes = new Causes(ledger)
  for (let row = 0; row < ledger.ids.length; row++) explainRow(ledger, causes, row)
  removedUnseen(ledger, causes)
  acknowledgedUnseen(ledger)
  storedRows(ledger)
}

function explainRow(ledger: Ledger, causes: Causes, row: number): void {
  const { versions, faults } = ledger
  const direct = new Set<number>()
  let removed = false
  for (const version of ledger.history[row] as number[]) {
    const invent = (why: string) =>
      faults.add('invented', versions.first[version] as number, `${ledger.describe(version)} ${why}`)
    if (removed) invent('comes after its removal')
    const by = versions.by[version] as number
    if (by === -1) {
      removed = true
      const unseen = (ledger.history[row] as number[]).length === 1
      if (!causes.settleRemoval(version) && !unseen) invent('was removed, and nobody asked for that')
      continue
    }
    const wrong = causes.mismatch(version, by)
    if (wrong !== null) {
      invent(wrong)
      // It may have existed at any time.
      versions.asked[version] = 0
    } else if (!direct.has(by) && causes.isDirect(version, by)) {
      direct.add(by)
      versions.asked[version] = ledger.asks.line[by] as number
      versions.told[version] = ledger.asks.toldLine[by] as number
    } else if (!causes.settleMoved(version)) {
      invent(`has the words of ask ${by} at a time of nobody's`)
      versions.asked[version] = 0
    }
  }
}

/**
 * Rows of which only the removal was ever shown. Unanswered requests made them, and a removal of something that they
 * belonged to removed them; otherwise they are faults.
 */
function removedUnseen(ledger: Ledger, causes: Causes): void {
  const { history, versions, kinds, asks, faults } = ledger
  const creations = new Map<string, number[]>()
  for (const [n, outcome] of asks.outcome.entries()) {
    const unclaimed = outcome === 'unknown' && asks.op[n] === 'create' && asks.row[n] === -1
    if (unclaimed) push(creations, asks.kind[n] as string, n)
  }
  const alone = history.flatMap(([version, ...others]) =>
    version !== undefined && others.length === 0 && versions.by[version] === -1 ? [version] : [],
  )
  const removals = new Set(
    history.flatMap((all, row) => {
      const last = all.at(-1)
      const asked = last !== undefined && versions.by[last] === -1 && causes.hasRemoval(row)
      return asked ? [versions.at[last] as number] : []
    }),
  )
  for (const version of alone) {
    const row = versions.row[version] as number
    if (causes.hasRemoval(row) || versions.asked[version] !== 0) continue
    const made = creations.get(kinds[row] as string) ?? []
    const at = made.findIndex(
      (n) =>
        (asks.floor[n] as number) < (versions.at[version] as number) &&
        (asks.line[n] as number) < (versions.first[version] as number),
    )
    if (at >= 0 && removals.has(versions.at[version] as number)) {
      const [by] = made.splice(at, 1) as [number]
      asks.row[by] = row
      versions.asked[version] = asks.line[by] as number
    } else {
      const detail = `${ledger.describe(version)} was removed, and nobody asked for that`
      faults.add('invented', versions.first[version] as number, detail)
    }
  }
}

/** Requests by what they may have caused. */
class Causes {
  readonly #ledger: Ledger
  /** By the row that they are of. */
  readonly #removals = new Map<number, number[]>()
  /** Requests that move another row: answered ones by row and stamp, others by row. */
  readonly #moves = new Map<string, number>()
  readonly #uncertain = new Map<number, number[]>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
    const { op, row, touches, outcome, at, line } = ledger.asks
    for (let n = 0; n < line.length; n++) {
      if (outcome[n] === 'refused') continue
      if (op[n] === 'remove') push(this.#removals, row[n] as number, n)
      const touched = touches[n] as number
      if (touched === -1) continue
      if (at[n] === null) push(this.#uncertain, touched, n)
      else this.#moves.set(`${touched}@${at[n]}`, n)
    }
  }

  /** Why the request that a version names cannot have made it; null when it can. */
  mismatch(version: number, by: number): string | null {
    const { asks, versions, kinds } = this.#ledger
    const row = versions.row[version] as number
    if (asks.line[by] === undefined) return `has the words of ask ${by}, which was never made`
    if (asks.outcome[by] === 'refused') return `has the words of ask ${by}, which was refused`
    if (asks.op[by] === 'remove') return `has the words of ask ${by}, which has none`
    if (asks.kind[by] !== kinds[row]) return `has the words of ask ${by}, about a ${asks.kind[by]}`
    if ((asks.line[by] as number) > (versions.first[version] as number)) {
      return `has the words of ask ${by}, which came later`
    }
    if (asks.row[by] === -1) asks.row[by] = row
    else if (asks.row[by] !== row) {
      return `has the words of ask ${by}, about ${this.#ledger.ids[asks.row[by] as number]}`
    }
    return null
  }

  /** Whether the request itself made this version, and not a later change of its result. */
  isDirect(version: number, by: number): boolean {
    const { asks, versions } = this.#ledger
    const at = versions.at[version] as number
    if (asks.at[by] !== null) return at === asks.at[by]
    return at > (asks.floor[by] as number)
  }

  /** Whether a request asked for the row's own removal. */
  hasRemoval(row: number): boolean {
    return this.#removals.has(row)
  }

  settleRemoval(version: number): boolean {
    return this.#settle(version, this.#removalsOf(version, true))
  }

  /** A version made by a request about another row: its parent's removal, or a row that refers to it. */
  settleMoved(version: number): boolean {
    const { versions, parents } = this.#ledger
    const row = versions.row[version] as number
    const at = versions.at[version] as number
    const targets = [row, ...(parents.get(row) ?? [])]
    const certain = targets.flatMap((target) => this.#moves.get(`${target}@${at}`) ?? [])
    if (certain.length > 0) return this.#settle(version, certain)
    const uncertain = targets.flatMap((target) => this.#uncertain.get(target) ?? [])
    return this.#settle(version, [...this.#removalsOf(version, false), ...uncertain])
  }

  /** Removals of what the version's row belongs to; `own`: and of the row itself. Those of one commit share a stamp. */
  #removalsOf(version: number, own: boolean): number[] {
    const { versions, parents, history } = this.#ledger
    const row = versions.row[version] as number
    const of = (parents.get(row) ?? []).filter((parent) => {
      const last = history[parent]?.at(-1)
      const known = last !== undefined && versions.by[last] === -1
      return !known || versions.at[last] === versions.at[version]
    })
    return [...(own ? [row] : []), ...of].flatMap((one) => this.#removals.get(one) ?? [])
  }

  /** Of the requests that may have made the version, the first to be sent and the first to be answered. */
  #settle(version: number, candidates: readonly number[]): boolean {
    const { asks, versions } = this.#ledger
    const possible = candidates.filter(
      (n) =>
        (asks.floor[n] as number) < (versions.at[version] as number) &&
        (asks.line[n] as number) < (versions.first[version] as number),
    )
    if (possible.length === 0) {
      versions.asked[version] = 0
      return false
    }
    versions.asked[version] = Math.min(...possible.map((n) => asks.line[n] as number))
    versions.told[version] = Math.min(...possible.map((n) => asks.toldLine[n] as number))
    return true
  }
}

/** Acknowledged versions have been shown by the end, if the history contains what is stored. */
function acknowledgedUnseen({ asks, versions, history, ids, stored, faults }: Ledger): void {
  if (stored === null) return
  for (let n = 0; n < asks.line.length; n++) {
    if (asks.outcome[n] !== 'done' || asks.at[n] !== null) continue
    const row = asks.row[n] as number
    const last = history[row]?.at(-1)
    const there = last !== undefined && (asks.op[n] !== 'remove' || versions.by[last] === -1)
    if (there) continue
    const detail = `the ${asks.op[n]} of ${ids[row]} was acknowledged, and nobody was shown it`
    faults.add('lost', asks.toldLine[n] as number, detail)
  }
}

/** The last version of every row is stored at the end. */
function storedRows(ledger: Ledger): void {
  const { history, stored, versions, faults, lines } = ledger
  if (stored === null) return
  for (const all of history) {
    const last = all.at(-1)
    if (last === undefined || stored.has(last)) continue
    const line = versions.told[last] === never ? lines : (versions.told[last] as number)
    faults.add('lost', line, `${ledger.describe(last)} is not what the database holds`)
  }
}

function push<K>(map: Map<K, number[]>, key: K, value: number): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
