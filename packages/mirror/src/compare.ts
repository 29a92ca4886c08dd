/**
 * Finds where a copy differs from the service, in one snapshot of the store: what the stream has brought since is
 * applied in memory, up to the moment of the service's digests. So nothing is written, writers go on, and both sides
 * are compared at the same moment.
 */
import { setImmediate } from 'node:timers/promises'
import {
  type AnyRow,
  type Change,
  type Checkpoint,
  type Client,
  type ComparedCopy,
  findDifferences,
  type IdRange,
  type Moment,
} from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import type { Copy, QuarantinedRow } from './copy.ts'
import { cellsOf, isUuid, type Members, membersOf, removedAtOf, updatedAtOf, wrongColumns } from './row.ts'
import type { Column, Store, StoredRow, StoreReader, Table } from './store.ts'
import { contentDigestOf, OrderedSums, Sums, type SumsText } from './sums.ts'

/** A row of the copy that differs from the service's. */
export interface CopyDifference {
  /** `ticket`. */
  readonly kind: string
  readonly id: string
  /**
   * `missing`: the copy lacks it. `changed`: it differs. `extra`: the service has none. `lost`: a removed row that
   * the copy kept was changed or deleted, and the service no longer has it; `id` is empty for deleted ones, which are
   * unknown.
   */
  readonly type: 'missing' | 'changed' | 'extra' | 'lost'
  /** The columns that differ in a changed row; `_body` is the text. */
  readonly columns: readonly string[]
}

/** The result for one kind. */
export interface ComparedKind {
  readonly kind: string
  readonly differences: readonly CopyDifference[]
  /** Differences of removed rows that the copy keeps. */
  readonly removed: readonly CopyDifference[]
  /** Whether it keeps another number of removed rows than was noted. */
  readonly isMiscounted: boolean
  /** Whether rows are kept in part, and so were fetched. */
  readonly isReduced: boolean
  readonly quarantined: readonly QuarantinedRow[]
  /** The sums of the snapshot's rows, and the noted ones. */
  readonly found: Sums
  readonly noted: Sums
}

/** Compares all kinds, one after another. Throws what the calls to service and store throw. */
export async function compareCopy(
  { client, store }: { readonly client: Client; readonly store: Store },
  copy: Copy,
  at: StoreReader,
  signal: AbortSignal | undefined,
): Promise<ComparedKind[]> {
  const compared: ComparedKind[] = []
  const since = new ChangesSince(client, copy.cursor, signal)
  for (const [kind, table] of copy.tables) {
    const quarantined = await copy.quarantined(at, kind)
    const held = new HeldRows(store, at, kind, table, since, quarantined, copy.hasBody)
    const differences = await held.nobodys()
    const choose = copy.chooserOf(kind)
    try {
      held.beginReading()
      if (choose !== undefined) {
        for await (const texts of client.kind(table.name).export({ signal }).texts())
          for (const text of texts) {
            const members = readJson(text) as Members
            if (members.object !== 'removed') await held.check(choose(members))
          }
        // Rows that have changed since are not compared: the copy has yet to learn of them.
        const changed = new ChangesSince(client, copy.cursor, signal)
        await changed.advance({ asOf: never, cursor: '' })
        differences.push(...held.checked(changed.of(kind)))
      } else if (!(await held.addsUp()))
        for await (const difference of findDifferences(client.kind(table.name), held, { signal })) {
          const { id, type } = difference
          const columns = type === 'changed' ? held.wrong(id, { ...difference.row }) : []
          differences.push({ kind, id, type, columns })
        }
    } finally {
      await held.leave()
    }
    const known = new Set(differences.map(({ id }) => id))
    const { count, wrong } = await wrongRemovals(store, at, kind, table)
    const removed = wrong.filter(({ id }) => !known.has(id))
    const kept = copy.removedOf(kind)
    for (let n = count; n < kept; n++) removed.push({ kind, id: '', type: 'lost', columns: [] })
    const sums = { found: held.found, noted: copy.sumsOf(kind) }
    compared.push({
      kind,
      differences,
      removed,
      isMiscounted: count !== kept,
      isReduced: choose !== undefined,
      quarantined,
      ...sums,
    })
  }
  return compared
}

/** Removed rows that were changed, judged by their own marks, as the service no longer has them. */
async function wrongRemovals(
  store: Store,
  at: StoreReader,
  kind: string,
  table: Table,
): Promise<{ readonly count: number; readonly wrong: readonly CopyDifference[] }> {
  const wrong: CopyDifference[] = []
  let count = 0
  for await (const rows of at.removed(table, { after: nilUuid, before: lastId })) {
    for (const row of rows) {
      count++
      const { id } = row
      const removedAt = removedAtOf(row)
      if (removedAt === undefined) {
        wrong.push({ kind, id, type: 'lost', columns: ['_body'] })
        continue
      }
      const columns = wrongColumns(store, table, row, membersOf(row.text) ?? {}, removedAt)
      if (columns.length > 0) wrong.push({ kind, id, type: 'changed', columns })
    }
  }
  return { count, wrong }
}

const nilUuid = '00000000-0000-0000-0000-000000000000'
const firstId = '00000000-0000-0000-0000-000000000001'
/** Later than every change. */
const never = '9999-12-31T23:59:59.999Z'
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const timeOf = (change: Change<AnyRow>) =>
  change.type === 'upsert' ? change.row.updatedAt : change.removedAt

/** What the stream has brought since a cursor, up to a moment that only moves forward. */
class ChangesSince {
  readonly #client: Client
  readonly #signal: AbortSignal | undefined
  readonly #kinds = new Map<string, Map<string, string | null>>()
  #cursor: string
  /** Changes before the cursor that are later than the moment. */
  #ahead: readonly Change<AnyRow>[] = []
  #asOf = ''

  constructor(client: Client, cursor: string, signal: AbortSignal | undefined) {
    this.#client = client
    this.#cursor = cursor
    this.#signal = signal
  }

  /** The texts of changed rows of the kind, by id; null for removed ones. */
  of(kind: string): ReadonlyMap<string, string | null> {
    return this.#kinds.get(kind) ?? new Map()
  }

  /** Goes to the end of the stream. What the service's rows of each kind come to there. */
  async finish(): Promise<Readonly<Record<string, Checkpoint>>> {
    for await (const page of this.#client.changes.sync({ cursor: this.#cursor }, { signal: this.#signal })) {
      this.#ahead = [...this.#ahead, ...page.changes]
      this.#cursor = page.cursor
      const last = this.#ahead.at(-1)
      if (last !== undefined) this.#asOf = timeOf(last)
      this.#apply()
      if (page.checkpoint !== undefined) return page.checkpoint
    }
    return {}
  }

  async advance({ asOf }: Moment): Promise<void> {
    if (asOf <= this.#asOf) return
    this.#asOf = asOf
    this.#apply()
    if (this.#ahead.length > 0) return
    for await (const page of this.#client.changes.sync({ cursor: this.#cursor }, { signal: this.#signal })) {
      this.#ahead = page.changes
      this.#cursor = page.cursor
      this.#apply()
      if (this.#ahead.length > 0) return
    }
  }

  #apply(): void {
    const later = this.#ahead.findIndex((change) => timeOf(change) > this.#asOf)
    const due = later < 0 ? this.#ahead : this.#ahead.slice(0, later)
    this.#ahead = this.#ahead.slice(due.length)
    for (const change of due) {
      if (change.type === 'upsert') this.#set(change.row.object, change.row.id, JSON.stringify(change.row))
      else this.#set(change.resource, change.id, null)
    }
  }

  #set(kind: string, id: string, text: string | null): void {
    const rows = this.#kinds.get(kind) ?? new Map<string, string | null>()
    this.#kinds.set(kind, rows.set(id, text))
  }
}

/** The rows of a table in a snapshot of the store, read once, with quarantined ones, and with later changes applied. */
class HeldRows implements ComparedCopy {
  readonly #store: Store
  readonly #at: StoreReader
  readonly #table: Table
  readonly #kind: string
  readonly #since: ChangesSince
  readonly #quarantined: ReadonlyMap<string, string>
  readonly #rows = new OrderedSums()
  readonly #hasBody: boolean
  /** By the number of the row, whether `check` has met it, and what it has found. */
  #met = new Uint8Array()
  readonly #wrong = new Map<string, CopyDifference>()
  readonly #metAside = new Set<string>()
  /** Of the texts in the store, without later changes, those of rows whose columns are wrong included. */
  readonly found = new Sums()
  #reading: Promise<void> | undefined
  #isLeft = false
  /** What `texts` has read last. */
  #latest = new Map<string, StoredRow>()

  constructor(
    store: Store,
    at: StoreReader,
    kind: string,
    table: Table,
    since: ChangesSince,
    quarantined: readonly QuarantinedRow[],
    hasBody: boolean,
  ) {
    this.#hasBody = hasBody
    this.#store = store
    this.#at = at
    this.#kind = kind
    this.#table = table
    this.#since = since
    this.#quarantined = new Map(quarantined.flatMap(({ id, text }) => (isUuid(id) ? [[id, text]] : [])))
    for (const [id, text] of this.#quarantined) this.found.count(id, updatedAtOf(membersOf(text)), text)
  }

  get #changed() {
    return this.#since.of(this.#kind)
  }

  /** The one id that is in no range, as the service never uses it. */
  async nobodys(): Promise<CopyDifference[]> {
    const rows = await this.#at.get(this.#table, [nilUuid])
    return rows.map((row) => {
      this.found.count(row.id, updatedAtOf(membersOf(row.text)), row.text)
      return { kind: this.#kind, id: row.id, type: 'extra', columns: [] }
    })
  }

  beginReading(): void {
    this.#reading = this.#read()
    // Awaited by whoever needs the rows.
    this.#reading.catch(() => {})
  }

  /**
   * Whether all rows together are what the service's checkpoint says: then none differs, and the service has nothing
   * to compute.
   */
  async addsUp(): Promise<boolean> {
    await this.#reading
    const checkpoint = (await this.#since.finish())[this.#kind]
    const [held] = await this.digests([{ after: nilUuid, before: lastId }])
    return checkpoint !== undefined && new Sums(held).equals(checkpoint)
  }

  async span() {
    const span = await this.#at.span(this.#table)
    const own = span ? [span.lowest, span.highest] : []
    const ids = [...own, ...this.#quarantined.keys(), ...this.#changed.keys()]
      .map((id) => (id === nilUuid ? firstId : id))
      .sort()
    const [lowest, highest] = [ids[0], ids.at(-1)]
    return lowest === undefined || highest === undefined ? null : { lowest, highest }
  }

  async #read(): Promise<void> {
    for await (const piece of this.#at.rows(this.#table, { after: nilUuid, before: lastId })) {
      // A store that never waits would keep requests from being sent.
      await setImmediate()
      if (this.#isLeft) return
      for (const row of piece) {
        const members = membersOf(row.text)
        const updatedAt = updatedAtOf(members)
        const text = this.#comparedText(row, members)
        this.#rows.add(row.id, updatedAt, text)
        if (text === row.text) continue
        this.found.count(row.id, updatedAt, row.text)
        this.found.count(row.id, updatedAt, text, -1)
      }
    }
    this.found.shift({ from: new Sums(), to: this.#rows.between(0, this.#rows.length) })
  }

  /** Compares a row that the service has, as far as it is kept. */
  async check({ text, members }: { readonly text: string; readonly members: Members }): Promise<void> {
    await this.#reading
    if (this.#met.length === 0) this.#met = new Uint8Array(this.#rows.length + 1)
    const id = members.id as string
    const kind = this.#kind
    const n = this.#rows.upTo(id)
    const isThere = this.#rows.idAt(n - 1) === id
    if (isThere) this.#met[n - 1] = 1
    const aside = this.#quarantined.get(id)
    if (aside !== undefined) this.#metAside.add(id)
    if (aside !== undefined && !isThere) {
      if (aside !== text) this.#wrong.set(id, { kind, id, type: 'changed', columns: ['_body'] })
    } else if (!isThere) this.#wrong.set(id, { kind, id, type: 'missing', columns: [] })
    else if (aside !== undefined || !this.#rows.holds(n - 1, this.#comparable(text, members))) {
      await this.texts([id])
      const columns = this.wrong(id, members, text)
      this.#wrong.set(id, { kind, id, type: 'changed', columns })
    }
  }

  /** What `check` has found, and the rows that it has not met, except those that have changed since. */
  checked(changed: ReadonlyMap<string, unknown>): CopyDifference[] {
    const unmet = [...this.#quarantined.keys()].filter((id) => !this.#metAside.has(id))
    for (let n = 0; n < this.#rows.length; n++) if (!this.#met[n]) unmet.push(this.#rows.idAt(n))
    for (const id of unmet) this.#wrong.set(id, { kind: this.#kind, id, type: 'extra', columns: [] })
    return [...this.#wrong.values()].filter(({ id }) => !changed.has(id))
  }

  /** What `#comparedText` is of a sound row. */
  #comparable(text: string, members: Members): string {
    if (this.#hasBody) return text
    const cells = cellsOf(this.#table, members)
    const shown = cells.map((cell, n) => this.#store.shown?.(this.#table.columns[n] as Column, cell) ?? cell)
    return `${text}\n${JSON.stringify(shown)}`
  }

  /** Ends the reading: the snapshot is about to end. */
  async leave(): Promise<void> {
    this.#isLeft = true
    await this.#reading?.catch(() => {})
  }

  advance(to: Moment): Promise<void> {
    return this.#since.advance(to)
  }

  async digests(ranges: readonly IdRange[]): Promise<SumsText[]> {
    await this.#reading
    const rows = this.#rows
    const sums = ranges.map(({ after, before }) => rows.between(rows.upTo(after), rows.upTo(before)))
    const changed = this.#changed
    const sumsOf = (id: string) => {
      const n = rangeOf(ranges, id)
      return id > (ranges[n]?.after ?? '') && id <= (ranges[n]?.before ?? '') ? sums[n] : undefined
    }
    for (const [id, text] of this.#quarantined) {
      if (!changed.has(id)) sumsOf(id)?.count(id, updatedAtOf(membersOf(text)), text)
    }
    for (const [id, text] of changed) {
      const into = sumsOf(id)
      const n = rows.upTo(id)
      if (rows.idAt(n - 1) === id) into?.shift({ from: rows.between(n - 1, n), to: new Sums() })
      if (text !== null) into?.count(id, updatedAtOf(membersOf(text)), text)
    }
    return sums.map((sum) => sum.text)
  }

  async ids(range: IdRange): Promise<string[]> {
    return [...(await this.contentDigests(range)).keys()]
  }

  async contentDigests({ after, before }: IdRange): Promise<Map<string, string>> {
    const rows = this.#rows
    const held = new Map<string, string>()
    for (let n = rows.upTo(after), end = rows.upTo(before); n < end; n++)
      held.set(rows.idAt(n), rows.between(n, n + 1).text.contentDigest)
    for (const [id, text] of this.#quarantined) {
      // A row in the table that is also quarantined is not the mirror's.
      if (id > after && id <= before) held.set(id, held.has(id) ? '' : contentDigestOf(text))
    }
    for (const [id, text] of this.#changed) {
      if (text === null) held.delete(id)
      else if (id > after && id <= before) held.set(id, contentDigestOf(text))
    }
    return held
  }

  async texts(ids: readonly string[]): Promise<Map<string, string>> {
    const texts = new Map<string, string>()
    for (const id of ids) {
      const text = this.#quarantined.get(id)
      if (text !== undefined) texts.set(id, text)
    }
    const rows = await this.#at.get(this.#table, ids)
    this.#latest = new Map(rows.map((row) => [row.id, row]))
    for (const row of rows) {
      // A row in the table that is also quarantined is not the mirror's.
      const told = this.#comparedText(row, membersOf(row.text))
      texts.set(row.id, `${told}${texts.has(row.id) ? '\n' : ''}`)
    }
    for (const id of ids) {
      const text = this.#changed.get(id)
      if (text === null) texts.delete(id)
      else if (text !== undefined) texts.set(id, text)
    }
    return texts
  }

  /** The columns that differ from the service's row; of a row that `texts` has read last. */
  wrong(id: string, members: Members, text = JSON.stringify(members)): string[] {
    const row = this.#latest.get(id)
    if (row === undefined) return []
    const wrong = wrongColumns(this.#store, this.#table, row, members)
    return row.text === text ? wrong : [...wrong, '_body']
  }

  /** A row's text; if its columns differ from it, another text, which no row of the service has. */
  #comparedText(row: StoredRow, members: Members | undefined): string {
    if (!this.#hasBody) return `${row.text}\n${JSON.stringify(row.cells)}`
    const isSound = members && wrongColumns(this.#store, this.#table, row, members).length === 0
    return isSound ? row.text : `${row.text}\n${JSON.stringify([row.cells, row.removedAt])}`
  }
}

/** The index of the range that an id is in. */
function rangeOf(ranges: readonly IdRange[], id: string): number {
  let [low, high] = [0, ranges.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (id > (ranges[middle]?.before ?? '')) low = middle + 1
    else high = middle
  }
  return low
}
