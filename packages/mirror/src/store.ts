/**
 * What a mirror asks of the place that it keeps a copy in. A store knows tables, rows and notes, and nothing of the service: what
 * is written, and when, is the mirror's. Memory, SQLite, PostgreSQL and DuckDB are stores, and so may be what you have.
 *
 * What a store promises: a write happens whole or not at all, also where its process dies; a read sees one moment; and what it gives
 * back is what is there, even where somebody has changed it.
 */
import type { IdRange } from '@deskwire/sdk'
import { MirrorError } from './error.ts'

/**
 * What a column holds. `uuid` is 36 characters in lower case; `timestamp` a text as `2026-01-31T09:30:00.000Z`, of the years 0001 to
 * 9999; `json` the text of any JSON value; `integer` a safe one.
 */
export type ColumnType = 'uuid' | 'text' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json'

/** A value of a column, as its type says; null where the row has none. */
export type Cell = string | number | boolean | null

export interface Column {
  /** As the service declares it: `customerId`. */
  readonly field: string
  /** In the store: `customer_id`. Lower-case letters, digits and `_`, never first; quote it, as it may be a word of the language. */
  readonly name: string
  readonly type: ColumnType
  /** What the service says of the field. */
  readonly comment: string
  /** Whether it holds the id of another row: a store has an index on it, and no foreign key, as kinds arrive apart. */
  readonly refers: boolean
}

/**
 * A table has these columns, the first of which is its primary key `id`; then `_body`, the row's text as it is served; and,
 * where removals are marked, `removed_at` and `_removal`, both null for every row that exists.
 */
export interface Table {
  /** `customers`; while another copy is built beside it, `customers_next`. */
  readonly name: string
  readonly comment: string
  readonly columns: readonly Column[]
  /** Whether removed rows stay. A row is removed if it has a `_removal`: `removed_at` is for those who query. */
  readonly marksRemovals: boolean
}

/** A row: its text byte for byte as it was served, and cells in the order of the table's columns. */
export interface StoredRow {
  readonly id: string
  readonly text: string
  readonly cells: readonly Cell[]
  /** Where removals are marked, what `removed_at` holds, as it is read: null in a row that exists. */
  readonly removedAt?: Cell
}

/** A removed row that stays. */
export interface RemovedRow extends StoredRow {
  readonly removal: string
}

export interface Removal {
  readonly id: string
  /** As a cell of type `timestamp`. */
  readonly removedAt: string
  /** What is kept in `_removal`: by it the mirror knows its own marks. */
  readonly removal: string
}

/** What is seen of one moment. */
export interface StoreReader {
  /** What was noted under this name; undefined when nothing is. */
  note(name: string): Promise<string | undefined>
  /** What was noted under names that begin so: letters and spaces. */
  notes(prefix: string): Promise<readonly string[]>
  /**
   * What a table is not as `define` makes it: a sentence for each missing column and each of another type. Undefined where nothing has this
   * name, be it a table, a view or anything else that `define` would collide with.
   */
  drift(table: Table): Promise<readonly Drift[] | undefined>
  /** How many rows exist, and how many removed ones are kept. */
  count(table: Table): Promise<{ readonly existing: number; readonly removed: number }>
  /** The lowest and the highest id of the table's rows; null when it has none. */
  span(table: Table): Promise<{ readonly lowest: string; readonly highest: string } | null>
  /** The rows whose ids are after the one, up to and including the other, lowest first, in pieces of the store's choice. */
  rows(table: Table, range: IdRange): AsyncIterable<readonly StoredRow[]>
  /** Those of these rows that exist, in no order. */
  get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]>
  /** The removed rows that are kept, lowest id first, in pieces; of a range, or with these ids. */
  removed(table: Table, which: IdRange | readonly string[]): AsyncIterable<readonly RemovedRow[]>
  /** The ids of rows that exist in a table and do not exist in another. */
  idsBeyond(table: Table, other: Table): Promise<readonly string[]>
}

/** One transaction, which sees what it has written itself. */
export interface StoreWriter extends StoreReader {
  /** Notes a text under a name; null takes it away. */
  setNote(name: string, value: string | null): Promise<void>
  /** Makes the table, with comments; of one that is there already, the columns that it lacks, empty. */
  define(table: Table): Promise<void>
  /** Makes the indexes that the table lacks: called once rows are loaded, as they load faster without. */
  index(table: Table): Promise<void>
  /**
   * Adds rows that the table does not have: as fast as the store can. They are made as they are taken, so a store that takes
   * some and writes them before it takes more has both done at once.
   */
  append(table: Table, rows: Iterable<StoredRow>): Promise<void>
  /** Adds rows, or replaces those with the same ids, marked ones included. No id comes twice in a call. */
  put(table: Table, rows: readonly StoredRow[]): Promise<void>
  /** Deletes or, where removals are marked, marks those of these rows that exist. */
  remove(table: Table, removals: readonly Removal[]): Promise<void>
  /** Deletes these rows, also where removals are marked. */
  erase(table: Table, ids: readonly string[]): Promise<void>
  /**
   * Gives the table the rows of another one of the same columns. What it has beyond them is deleted; where removals are marked, it has been marked
   * before and stays. Nobody who reads it meanwhile sees less than a whole copy, and what others have built upon the table stays.
   */
  replace(table: Table, by: Table): Promise<void>
  /** Drops the table, if it is there. */
  drop(table: Table): Promise<void>
}

export interface OpenOptions {
  /** True, unless told. */
  readonly creates?: boolean
  /** Where notes are to be made: names that may not be taken. @throws NameTaken before anything is made or changed. */
  readonly free?: readonly string[]
}

export interface Store {
  /**
   * Connects, and makes what notes need where it is not there. With `creates: false` it makes and changes nothing, and answers false
   * and stays closed where nothing is there. To be called before anything else, and again after a failure if one likes.
   */
  open(options?: OpenOptions): Promise<boolean>
  /**
   * Runs one transaction: commits when `work` has settled, and rolls back and throws what it throws. Writers of one copy go one after
   * the other, also those of other processes. A StoreUnavailable says that it may be tried again.
   */
  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T>
  /** Shows one moment for as long as `work` takes, beside writers. */
  read<T>(work: (at: StoreReader) => Promise<T>): Promise<T>
  /**
   * What a reader gives back for a cell that nobody has changed, where that is not the cell itself: a store whose types write a
   * value in their own way says so here. Equal cells are equal texts, numbers or booleans.
   */
  shown?(column: Pick<Column, 'type'>, cell: Cell): Cell
  /** Why the store cannot hold this row exactly, where that shows without a try; a write that fails for a value throws RowRefused. */
  refusal?(table: Table, row: StoredRow): string | undefined
  /** Ends connections. Nothing may be under way. */
  close(): Promise<void>
}

/** The columns of a table that are neither of a field nor the text. */
export function removalColumns({ marksRemovals }: Table) {
  return marksRemovals ? ofRemovals : []
}

const ofRemovals = [
  { name: 'removed_at', type: 'timestamp', comment: 'When it was removed; null while it exists.' },
  { name: '_removal', type: 'text', comment: 'By what the mirror knows its own marks.' },
] as const

/** A part of a table that is not as it was made. */
export interface Drift {
  /** `name is missing`, `number is text and not bigint`. */
  readonly text: string
  /** Whether `define` puts it back. */
  readonly isMissing: boolean
}

/** The store has something under a name that the mirror needs and did not make. */
export class NameTaken extends MirrorError {
  constructor(name: string) {
    super(
      `There is a table ${name} that no mirror made, and nothing was changed. Rename it, or give the copy a schema or file of its own.`,
    )
  }
}

/** The store's file, or one that belongs to it, is there and was not made by it. */
export class FileTaken extends MirrorError {
  constructor(file: string) {
    super(
      `${file} is there, is of no copy, and was not changed. Give the copy another name, or move that file away.`,
    )
  }
}

/** A row holds a value that the store refuses. A write that fails so is rolled back, and may succeed without that row. */
export class RowRefused extends Error {
  override readonly name = 'RowRefused'
}

/** Compares the columns that a table has with those that it should have, by their types. */
export function driftOf(
  table: Table,
  types: Readonly<Record<ColumnType, string>>,
  held: ReadonlyMap<string, string>,
): readonly Drift[] | undefined {
  if (held.size === 0) return undefined
  const body = { name: '_body', type: 'text' } as const
  return [...table.columns, body, ...removalColumns(table)].flatMap(({ name, type }): Drift[] => {
    const is = held.get(name)?.toLowerCase()
    if (is === types[type]) return []
    if (is !== undefined) return [{ text: `${name} is ${is} and not ${types[type]}`, isMissing: false }]
    return [{ text: `${name} is missing`, isMissing: !['id', '_body'].includes(name) }]
  })
}

/** The store cannot be reached, or has gone away in the middle: whether the last write was kept is told by its notes. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
