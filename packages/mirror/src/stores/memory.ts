/** A copy in memory, for tests and for programs that load everything at each start. */
import type { IdRange } from '@deskwire/sdk'
import { Queue } from '../queue.ts'
import {
  type ColumnType,
  driftOf,
  type OpenOptions,
  type Removal,
  removalColumns,
  type Store,
  type StoredRow,
  type StoreReader,
  type StoreWriter,
  type Table,
  type VersionKey,
} from '../store.ts'

interface Kept {
  readonly row: StoredRow
  readonly removed: Removal | null
}

const rowsOfPiece = 1_000

const ownTypes = Object.fromEntries(
  ['uuid', 'text', 'integer', 'number', 'boolean', 'timestamp', 'json', 'texts'].map((type) => [type, type]),
) as Record<ColumnType, string>

const typesOf = (table: Table) =>
  new Map(
    [...table.columns, { name: '_body', type: 'text' }, ...removalColumns(table)].map(({ name, type }) => [
      name,
      type,
    ]),
  )

/** Holds tables as maps. A write that fails is undone; writers run one after another. */
export class MemoryStore implements Store {
  readonly #queue = new Queue()
  readonly #tables = new Map<string, Map<string, Kept>>()
  /** The types of their columns, by name. */
  readonly #types = new Map<string, ReadonlyMap<string, string>>()
  readonly #notes = new Map<string, string>()

  async open({ creates = true }: OpenOptions = {}): Promise<boolean> {
    return creates || this.#notes.size > 0
  }

  async close(): Promise<void> {}

  *rowsOf(table: string): Iterable<StoredRow> {
    for (const { row, removed } of this.#tables.get(table)?.values() ?? []) if (removed === null) yield row
  }

  /** Reads a copy of the tables between two writes; rows themselves never change. */
  async read<T>(work: (at: StoreReader) => Promise<T>): Promise<T> {
    const moment = new MemoryStore()
    await this.#queue.run(async () => {
      for (const [name, rows] of this.#tables) moment.#tables.set(name, new Map(rows))
      for (const [name, types] of this.#types) moment.#types.set(name, types)
      for (const [name, value] of this.#notes) moment.#notes.set(name, value)
    })
    return work(moment.#reader)
  }

  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      const undo: (() => void)[] = []
      try {
        return await work(this.#writer(undo))
      } catch (error) {
        for (const step of undo.reverse()) step()
        throw error
      }
    })
  }

  readonly #reader: StoreReader = {
    note: async (name) => this.#notes.get(name),
    notes: async (prefix) =>
      [...this.#notes]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, value]) => (name.startsWith(prefix) ? [value] : [])),
    drift: async (table) => {
      const columns = this.#types.get(table.name)
      return driftOf(table, ownTypes, columns && { columns })
    },
    count: async (table) => {
      const all = [...this.#rows(table).values()]
      const existing = all.filter(({ removed }) => removed === null).length
      return { existing, removed: all.length - existing }
    },
    span: async (table) => {
      const ids = this.#ids(table)
      const [lowest, highest] = [ids[0], ids.at(-1)]
      return lowest === undefined || highest === undefined ? null : { lowest, highest }
    },
    rows: (table, range) => this.#pieces(table, range),
    get: async (table, ids) => this.#existing(table, ids),
    removed: (table, which) => this.#removed(table, which),
    idsBeyond: async (table, other) => {
      const there = new Set(this.#ids(other))
      return this.#ids(table).filter((id) => !there.has(id))
    },
  }

  #writer(undo: (() => void)[]): StoreWriter {
    const set = <V>(map: Map<string, V>, key: string, value: V | undefined) => {
      const before = map.get(key)
      undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)))
      if (value === undefined) map.delete(key)
      else map.set(key, value)
    }
    const put = (table: Table, rows: Iterable<StoredRow>) => {
      const kept = this.#rows(table)
      for (const row of rows) set(kept, row.id, { row, removed: null })
    }
    const remove = (table: Table, removals: readonly Removal[]) => {
      const kept = this.#rows(table)
      for (const removed of removals) {
        const held = kept.get(removed.id)
        if (held?.removed !== null) continue
        set(kept, removed.id, table.marksRemovals ? { ...held, removed } : undefined)
      }
    }
    const versionsOf = (table: Table, ids: ReadonlySet<string>, by: VersionKey = 'row_id') => {
      const at = table.columns.findIndex(({ name }) => name === by)
      return [...this.#rows(table)].flatMap(([id, kept]) => {
        const key = String(kept.row.cells[at])
        return ids.has(key) ? [[id, kept, key] as const] : []
      })
    }
    return {
      ...this.#reader,
      setNote: async (name, value) => set(this.#notes, name, value ?? undefined),
      define: async (table) => {
        const { name, columns } = table
        const rows = this.#tables.get(name)
        set(this.#types, name, typesOf(table))
        if (rows === undefined) return set(this.#tables, name, new Map())
        for (const [id, { row, removed }] of rows) {
          const lacking = columns.length - row.cells.length
          if (lacking <= 0) continue
          const cells = [...row.cells, ...Array<null>(lacking).fill(null)]
          set(rows, id, { row: { ...row, cells }, removed })
        }
      },
      index: async () => {},
      append: async (table, rows) => put(table, rows),
      put: async (table, rows) => put(table, rows),
      remove: async (table, removals) => remove(table, removals),
      erase: async (table, ids, by = 'id') => {
        const gone = by === 'id' ? ids : versionsOf(table, new Set(ids)).map(([id]) => id)
        for (const id of gone) set(this.#rows(table), id, undefined)
      },
      endVersions: async (table, ends, by) => {
        const times = new Map(ends.map(({ id, at }) => [id, at]))
        const to = table.columns.findIndex(({ name }) => name === 'valid_to')
        for (const [id, kept, key] of versionsOf(table, new Set(times.keys()), by)) {
          const { row } = kept
          if (row.cells[to] !== null) continue
          const from = table.columns.findIndex(({ name }) => name === 'valid_from')
          const least = String(row.cells[from])
          const at = times.get(key) ?? ''
          const cells = row.cells.with(to, at > least ? at : least)
          set(this.#rows(table), id, { ...kept, row: { ...row, cells } })
        }
      },
      replace: async (table, by, keeps = table.marksRemovals) => {
        const [rows, other] = [this.#rows(table), this.#rows(by)]
        if (!keeps) for (const id of rows.keys()) if (!other.has(id)) set(rows, id, undefined)
        for (const [id, kept] of other) set(rows, id, kept)
      },
      drop: async ({ name }) => {
        set(this.#types, name, undefined)
        set(this.#tables, name, undefined)
      },
    }
  }

  #rows({ name }: Table): Map<string, Kept> {
    const rows = this.#tables.get(name)
    if (rows === undefined) throw new Error(`there is no table ${name}`)
    return rows
  }

  #ids(table: Table): string[] {
    return [...this.#rows(table)].flatMap(([id, { removed }]) => (removed === null ? [id] : [])).sort()
  }

  #existing(table: Table, ids: readonly string[]): StoredRow[] {
    const rows = this.#rows(table)
    return ids.flatMap((id) => {
      const held = rows.get(id)
      if (held?.removed !== null) return []
      return [table.marksRemovals ? { ...held.row, removedAt: null } : held.row]
    })
  }

  async *#removed(table: Table, which: IdRange | readonly string[]) {
    const isAsked = (id: string) =>
      'after' in which ? id > which.after && id <= which.before : which.includes(id)
    const kept = [...this.#rows(table).values()]
    yield kept.flatMap(({ row, removed }) =>
      removed && isAsked(row.id) ? [{ ...row, removedAt: removed.removedAt, removal: removed.removal }] : [],
    )
  }

  async *#pieces(table: Table, { after, before }: IdRange): AsyncGenerator<readonly StoredRow[]> {
    const ids = this.#ids(table).filter((id) => id > after && id <= before)
    for (let n = 0; n < ids.length; n += rowsOfPiece)
      yield this.#existing(table, ids.slice(n, n + rowsOfPiece))
  }
}
