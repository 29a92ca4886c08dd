/**
 * What a mirror asks of the place that it keeps a copy in. A store knows tables, rows and notes, and nothing of the service: what
 * is written, and when, is the mirror's. Memory, SQLite, PostgreSQL and DuckDB are stores, and so may be what you have.
 *
 * What a store promises: a write happens whole or not at all, also where its process dies; a read sees one moment; and what it gives
 * back is what is there, whoever has changed it.
 */
import type { IdRange } from '@deskwire/sdk'

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
  /** In the store: `customer_id`. It needs no quotes but where it is a word of the language, and never begins with `_`. */
  readonly name: string
  readonly type: ColumnType
  /** What the service says of the field. */
  readonly comment: string
  /** Whether it holds the id of another row: a store has an index on it, and no foreign key, as kinds arrive apart. */
  readonly refers: boolean
}

/**
 * A table has these columns, the first of which is its primary key `id`; then `_body`, the row's text as it is served; and,
 * where removals are marked, `removed_at`, which is null for every row that exists.
 */
export interface Table {
  /** `customers`; while another copy is built beside it, `customers_next`. */
  readonly name: string
  readonly comment: string
  readonly columns: readonly Column[]
  /** Whether what is removed stays, with the time of its removal. Rows so marked are none of those that a reader is shown. */
  readonly marksRemovals: boolean
}

/** A row: its text byte for byte as it was served, and cells in the order of the table's columns. */
export interface StoredRow {
  readonly id: string
  readonly text: string
  readonly cells: readonly Cell[]
}

export interface Removal {
  readonly id: string
  /** As a cell of type `timestamp`. */
  readonly removedAt: string
}

/** What is seen of one moment. */
export interface StoreReader {
  /** What was noted under this name; undefined when nothing is. */
  note(name: string): Promise<string | undefined>
  /** The lowest and the highest id of the table's rows; null when it has none. */
  span(table: Table): Promise<{ readonly lowest: string; readonly highest: string } | null>
  /** The rows whose ids are after the one, up to and including the other, lowest first, in pieces of the store's choice. */
  rows(table: Table, range: IdRange): AsyncIterable<readonly StoredRow[]>
  /** Those of these rows that it has, in no order. */
  get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]>
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
  /** Deletes or marks those of these rows that it has. */
  remove(table: Table, removals: readonly Removal[]): Promise<void>
  /**
   * Gives the table the rows of another one of the same columns, and no others: what it has beyond them is deleted, or marked as
   * removed at this time. Nobody who reads it meanwhile sees less than a whole copy, and what others have built upon the
   * table stays.
   */
  replace(table: Table, by: Table, removedAt: string): Promise<void>
  /** Drops the table, if it is there. */
  drop(table: Table): Promise<void>
}

export interface OpenOptions {
  /** True, unless told. */
  readonly creates?: boolean
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
  shown?(column: Column, cell: Cell): Cell
  /** Ends connections. Nothing may be under way. */
  close(): Promise<void>
}

/** The store cannot be reached, or has gone away in the middle: whether the last write was kept is told by its notes. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
