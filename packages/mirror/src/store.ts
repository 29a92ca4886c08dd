/**
 * The interface of the place where a mirror keeps a copy. A store knows tables, rows and notes, and nothing of the
 * service. Memory, SQLite, PostgreSQL and DuckDB are stores, and yours may be one. A write happens whole or not at
 * all, even if its process dies; a read sees one snapshot and returns what is stored, even if somebody has changed
 * it.
 */
import type { IdRange } from '@deskwire/sdk'
import { MirrorError } from './error.ts'

/**
 * `uuid`: 36 characters, lower case; `timestamp`: as `2026-01-31T09:30:00.000Z`, years 0001 to 9999; `json`: any
 * value; `texts`: a list of texts, as JSON; `integer`: safe.
 */
export type ColumnType = 'uuid' | 'text' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json' | 'texts'

/** A value of a column's type; null when the row has none. */
export type Cell = string | number | boolean | null

export interface Column {
  /** As the service declares it: `customerId`. */
  readonly field: string
  /**
   * In the store: `customer_id`. Lower-case letters, digits and `_`, never first; quote it, as it may be a reserved
   * word.
   */
  readonly name: string
  readonly type: ColumnType
  readonly comment: string
  /** Whether it holds the id of another row: a store has an index on it, and no foreign key, as kinds arrive apart. */
  readonly refers: boolean
  /** Whether no row has been without a value yet, as the service declares it: the store may refuse null. */
  readonly required?: boolean
  /** Whether the service no longer declares it. */
  readonly dropped?: boolean
}

/** Whether a store has an index on the column. */
export const isIndexed = ({ refers, field }: Column) => refers || field === 'updatedAt'

/**
 * A table has these columns, the first of which is its primary key `id`; then `_body`, the row's text; and, with
 * marked removals, `removed_at` and `_removal`, both null for every existing row.
 */
export interface Table {
  /** `customers`; while another copy is built beside it, `customers_next`. */
  readonly name: string
  readonly comment: string
  readonly columns: readonly Column[]
  /** Whether removed rows stay. A row is removed if it has a `_removal`; `removed_at` is for queries. */
  readonly marksRemovals: boolean
}

/** A row: its text byte for byte as it was served, and cells in the order of the table's columns. */
export interface StoredRow {
  readonly id: string
  readonly text: string
  readonly cells: readonly Cell[]
  /** With marked removals, `removed_at` as it is read: null in an existing row. */
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
  /** The value of `_removal`, by which the mirror knows its own marks. */
  readonly removal: string
}

/** By what versions are found: their own id, or that of their row. */
export type VersionKey = 'id' | 'row_id'

export interface VersionEnd {
  readonly id: string
  /** The value of `valid_to`, as a cell of type `timestamp`. */
  readonly at: string
}

/** One snapshot. */
export interface StoreReader {
  /** The note with this name; undefined when there is none. */
  note(name: string): Promise<string | undefined>
  /** The notes whose names begin with this prefix of letters and spaces. */
  notes(prefix: string): Promise<readonly string[]>
  /**
   * A table's missing columns and those of other types than `define` creates; undefined when no object has its name.
   */
  drift(table: Table): Promise<readonly Drift[] | undefined>
  /** The numbers of existing rows, and of removed ones that are kept. */
  count(table: Table): Promise<{ readonly existing: number; readonly removed: number }>
  /** The lowest and the highest id of the table's rows; null when it has none. */
  span(table: Table): Promise<{ readonly lowest: string; readonly highest: string } | null>
  /** The rows with ids after the one, up to and including the other, lowest first, in pieces of the store's choice. */
  rows(table: Table, range: IdRange): AsyncIterable<readonly StoredRow[]>
  /** Those of these rows that exist, in any order. */
  get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]>
  /** The removed rows that are kept, lowest id first, in pieces; of a range, or with these ids. */
  removed(table: Table, which: IdRange | readonly string[]): AsyncIterable<readonly RemovedRow[]>
  /** The ids of existing rows of a table that do not exist in another. */
  idsBeyond(table: Table, other: Table): Promise<readonly string[]>
}

/** One transaction, which sees its own writes. */
export interface StoreWriter extends StoreReader {
  /** Stores a note; null deletes it. */
  setNote(name: string, value: string | null): Promise<void>
  /**
   * Creates the table, with comments. Of an existing one, it adds missing columns, replaces those of other types,
   * both empty, and lets columns have nulls that are no longer required.
   */
  define(table: Table): Promise<void>
  /** Creates missing indexes: called once rows are loaded, as they load faster without. */
  index(table: Table): Promise<void>
  /**
   * Adds new rows, which are created as they are taken: a store that writes some before it takes more does both at
   * once.
   */
  append(table: Table, rows: Iterable<StoredRow>): Promise<void>
  /** Adds rows, or replaces those with the same ids, marked ones included. No id comes twice in a call. */
  put(table: Table, rows: readonly StoredRow[]): Promise<void>
  /** Deletes these rows or, with marked removals, marks those that exist. */
  remove(table: Table, removals: readonly Removal[]): Promise<void>
  /** Deletes these rows, also with marked removals; of a table of versions by `row_id`: those of these rows. */
  erase(table: Table, ids: readonly string[], by?: VersionKey): Promise<void>
  /** In a table of versions, sets an empty `valid_to`, not to before `valid_from`. */
  endVersions(table: Table, ends: readonly VersionEnd[], by: VersionKey): Promise<void>
  /**
   * Gives the table the rows of another one with the same columns. Other rows are deleted, except marked ones, unless
   * it `keeps` them. Readers never see less than a whole copy, and what others have built upon the table stays.
   */
  replace(table: Table, by: Table, keeps?: boolean): Promise<void>
  drop(table: Table): Promise<void>
}

export interface OpenOptions {
  /** Default: true. */
  readonly creates?: boolean
  /** Names that must be free when notes are created. @throws NameTaken before anything is created or changed. */
  readonly free?: readonly string[]
}

export interface Store {
  /**
   * Connects, and creates what notes need. With `creates: false` it creates nothing; if there is nothing, it returns
   * false and stays closed. Call it before anything else, and again after a failure if you like.
   */
  open(options?: OpenOptions): Promise<boolean>
  /**
   * Runs one transaction: commits when `work` resolves, else rolls back and rethrows. Writers of one copy run one
   * after another, also in several processes. StoreUnavailable and WriteRefused may be tried again.
   */
  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T>
  /** One snapshot while `work` runs, with writers beside it. */
  read<T>(work: (at: StoreReader) => Promise<T>): Promise<T>
  /**
   * The cell as a reader returns it, if the store's types print values in their own way. Equal cells are equal
   * primitives. `value`: the parsed value of a `json` or `texts` cell, where the caller has it.
   */
  shown?(column: Pick<Column, 'type'>, cell: Cell, value?: unknown): Cell
  /**
   * Why the store cannot hold this row exactly, if that shows without a trial; a write that fails for a value throws
   * RowRefused.
   */
  refusal?(table: Table, row: StoredRow): string | undefined
  /** Ends connections. Nothing may be running. */
  close(): Promise<void>
}

/** The columns of a table that are neither a field's nor the text. */
export function removalColumns({ marksRemovals }: Table) {
  return marksRemovals ? ofRemovals : []
}

const ofRemovals = [
  { name: 'removed_at', type: 'timestamp', comment: 'When it was removed; null while it exists.' },
  { name: '_removal', type: 'text', comment: 'By what the mirror knows its own marks.' },
] as const

/** A part of a table that differs from what was created. */
export interface Drift {
  /** The column's name. */
  readonly column: string
  /** `name is missing`, `number is text and not bigint`. */
  readonly text: string
  /** Whether `define` restores it. */
  readonly isMissing: boolean
}

/** The store has something under a name that the mirror needs and did not create. */
export class NameTaken extends MirrorError {
  constructor(name: string) {
    super(
      `There is a table or view ${name} that no mirror made, and nothing was changed. Rename it, give the copy a schema or file of its own, or take over a table with --adopt (\`adopts\`).`,
    )
  }
}

/** The store's file, or one that belongs to it, exists and is not the mirror's. */
export class FileTaken extends MirrorError {
  constructor(file: string) {
    super(
      `${file} is there, is of no copy, and was not changed. Give the copy another name, or move that file away.`,
    )
  }
}

/** The store refuses a value of a row. The write is rolled back, and may succeed without that row. */
export class RowRefused extends Error {
  override readonly name = 'RowRefused'
}

/** One line for the user: where, what is wrong, and what to do next. */
export function sentences(
  place: string,
  { message, detail = '' }: Error & { readonly detail?: string | undefined },
  next: string,
): string {
  const wrong = [message, detail].flatMap((text) => text.split('\n', 1)[0] || [])
  return `${place}: ${wrong.join(': ').replace(/\.$/, '')}. ${next}`
}

/**
 * The store refuses a statement, for example because of a foreign key or view of somebody else. It is rolled back,
 * and may be tried again.
 */
export class WriteRefused extends Error {
  override readonly name = 'WriteRefused'

  constructor(
    place: string,
    cause: Error,
    next = 'Look for foreign keys, views, triggers and other rules that were added to the tables of the copy, and at permissions and space.',
  ) {
    super(sentences(place, cause, next), { cause })
  }
}

/** What has a table's name in a store. */
export interface Held {
  /** What it is if it is no table: `a view`. */
  readonly other?: string | undefined
  /** Types by column. */
  readonly columns: ReadonlyMap<string, string>
}

/** Compares a table's columns and their types with the expected ones. */
export function driftOf(
  table: Table,
  types: Readonly<Record<ColumnType, string>>,
  held: Held | undefined,
): readonly Drift[] | undefined {
  if (held === undefined) return undefined
  if (held.other) return [{ column: '', text: `it is ${held.other} and not a table`, isMissing: false }]
  const body = { name: '_body', type: 'text' } as const
  return [...table.columns, body, ...removalColumns(table)].flatMap(({ name, type }): Drift[] => {
    const is = held.columns.get(name)?.toLowerCase()
    if (is === types[type]) return []
    if (is !== undefined)
      return [{ column: name, text: `${name} is ${is} and not ${types[type]}`, isMissing: false }]
    return [{ column: name, text: `${name} is missing`, isMissing: !['id', '_body'].includes(name) }]
  })
}

/** The store cannot be reached, or the connection broke: its notes tell whether the last write was committed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
