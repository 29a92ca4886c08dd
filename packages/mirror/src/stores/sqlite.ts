/**
 * A copy in a file of SQLite, by the one that is part of Node. Readers of the file see the last page that was written, whole; it
 * is in WAL mode, so they hold up nobody.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { IdRange } from '@deskwire/sdk'
import { Queue } from '../queue.ts'
import {
  type Cell,
  type Column,
  type ColumnType,
  type OpenOptions,
  type Removal,
  type Store,
  type StoredRow,
  type StoreReader,
  StoreUnavailable,
  type StoreWriter,
  type Table,
} from '../store.ts'

export interface SqliteOptions {
  /** The file; it is made if it is not there. */
  readonly file: string
  /** Milliseconds for which another writer of the file is waited for, with this thread standing still; 5,000 unless told. */
  readonly busyMs?: number
}

const types: Record<ColumnType, string> = {
  uuid: 'text',
  text: 'text',
  integer: 'integer',
  number: 'real',
  boolean: 'integer',
  timestamp: 'text',
  json: 'text',
}

/** Rows of a piece of `rows`. */
const rowsOfPiece = 1_000

const hex = (digits: number) => '[0-9a-f]'.repeat(digits)
/** What an id looks like, as a pattern of `glob`. */
const uuid = [8, 4, 4, 4, 12].map(hex).join('-')

export class SqliteStore implements Store {
  readonly #file: string
  readonly #busyMs: number
  readonly #writes = new Queue()
  readonly #reads = new Queue()
  #writer: Connection | undefined
  #reader: Connection | undefined

  constructor({ file, busyMs = 5_000 }: SqliteOptions) {
    this.#file = file
    this.#busyMs = busyMs
  }

  async open({ creates = true }: OpenOptions = {}): Promise<boolean> {
    if (this.#writer !== undefined) return true
    if (!creates && !existsSync(this.#file)) return false
    const writer = new Connection(this.#file, this.#busyMs)
    if (!creates && !writer.hasNotes) {
      writer.close()
      return false
    }
    writer.run('pragma journal_mode = wal')
    // What a loss of power takes back it takes back whole, rows with their cursor: the copy is older then, and as exact.
    writer.run('pragma synchronous = normal')
    writer.run(
      'create table if not exists deskwire_mirror (name text primary key, value text not null) strict',
    )
    this.#reader = new Connection(this.#file, this.#busyMs)
    this.#writer = writer
    return true
  }

  async close(): Promise<void> {
    for (const connection of [this.#reader, this.#writer]) connection?.close()
    this.#reader = undefined
    this.#writer = undefined
  }

  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    return this.#writes.run(() => transaction(opened(this.#writer), 'begin immediate', work))
  }

  read<T>(work: (at: StoreReader) => Promise<T>): Promise<T> {
    return this.#reads.run(() => transaction(opened(this.#reader), 'begin', work))
  }

  /** SQLite has no booleans, and numbers are read as text, since those of somebody else may be too large for ours. */
  shown({ type }: Column, cell: Cell): Cell {
    if (typeof cell === 'boolean') return cell ? '1' : '0'
    return type === 'integer' && cell !== null ? String(cell) : cell
  }
}

function opened(connection: Connection | undefined): Connection {
  if (connection === undefined) throw new Error('the store is not open')
  return connection
}

async function transaction<T>(
  connection: Connection,
  begin: string,
  work: (tx: StoreWriter) => Promise<T>,
): Promise<T> {
  connection.run(begin)
  try {
    const result = await work(connection)
    connection.run('commit')
    return result
  } catch (error) {
    if (connection.isInTransaction) connection.run('rollback')
    throw error
  }
}

/** Several writers of one file wait for each other; one that has waited too long may try again. */
const busyOrLocked = [5, 6]

class Connection implements StoreWriter {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string, busyMs: number) {
    this.#database = new DatabaseSync(file)
    this.run(`pragma busy_timeout = ${busyMs}`)
  }

  get hasNotes(): boolean {
    return this.#read("select 1 from sqlite_master where name = 'deskwire_mirror'").length > 0
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  /** @throws StoreUnavailable while another process writes. */
  run(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (error) {
      const { errcode, message } = error as { errcode?: number; message: string }
      if (errcode !== undefined && busyOrLocked.includes(errcode & 0xff))
        throw new StoreUnavailable(`SQLite: ${message}`, { cause: error })
      throw error
    }
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      statement.setReturnArrays(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #read(sql: string, ...values: string[]): Cell[][] {
    return this.#prepared(sql).all(...values) as unknown as Cell[][]
  }

  async note(name: string): Promise<string | undefined> {
    const [row] = this.#read('select value from deskwire_mirror where name = ?', name)
    return row?.[0] as string | undefined
  }

  async setNote(name: string, value: string | null): Promise<void> {
    if (value === null) this.#prepared('delete from deskwire_mirror where name = ?').run(name)
    else
      this.#prepared(
        'insert into deskwire_mirror (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
      ).run(name, value)
  }

  async span(table: Table): Promise<{ lowest: string; highest: string } | null> {
    const [row] = this.#read(`select min(id), max(id) from ${quoted(table.name)}${existing(table, 'where')}`)
    const [lowest, highest] = row as [string | null, string | null]
    return lowest === null || highest === null ? null : { lowest, highest }
  }

  async *rows(table: Table, { after, before }: IdRange): AsyncGenerator<readonly StoredRow[]> {
    const where = `id > ? and id <= ?${existing(table, 'and')} order by id`
    let piece: StoredRow[] = []
    // A statement of its own: several may be under way.
    const statement = this.#database.prepare(`${selected(table)} where ${where}`)
    statement.setReturnArrays(true)
    for (const values of statement.iterate(after, before)) {
      piece.push(storedRow(values as unknown as Cell[]))
      if (piece.length < rowsOfPiece) continue
      yield piece
      piece = []
    }
    if (piece.length > 0) yield piece
  }

  async get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]> {
    const where = `id in (select value from json_each(?))${existing(table, 'and')}`
    return this.#read(`${selected(table)} where ${where}`, JSON.stringify(ids)).map(storedRow)
  }

  async define(table: Table): Promise<void> {
    const columns = [
      ...table.columns.map((column, n) =>
        n === 0
          ? `id text primary key not null check (id glob '${uuid}')`
          : `${quoted(column.name)} ${types[column.type]}`,
      ),
      '_body text not null',
      ...(table.marksRemovals ? ['removed_at text'] : []),
    ]
    this.run(`create table if not exists ${quoted(table.name)} (${columns.join(', ')}) strict`)
    const there = this.#read(`select name from pragma_table_info(?)`, table.name).map(([name]) => name)
    for (const { name, type } of table.columns) {
      if (!there.includes(name))
        this.run(`alter table ${quoted(table.name)} add column ${quoted(name)} ${types[type]}`)
    }
  }

  async index(table: Table): Promise<void> {
    for (const { name, refers } of table.columns) {
      const index = quoted(`${table.name}_${name}`)
      if (refers) this.run(`create index if not exists ${index} on ${quoted(table.name)} (${quoted(name)})`)
    }
  }

  async append(table: Table, rows: Iterable<StoredRow>): Promise<void> {
    const columns = columnsOf(table)
    const statement = this.#prepared(
      `insert into ${quoted(table.name)} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    )
    for (const row of rows) statement.run(...valuesOf(row))
  }

  async put(table: Table, rows: readonly StoredRow[]): Promise<void> {
    const columns = columnsOf(table)
    const statement = this.#prepared(
      `insert into ${quoted(table.name)} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
        on conflict (id) do update set ${assignments(table)}`,
    )
    for (const row of rows) statement.run(...valuesOf(row))
  }

  async remove(table: Table, removals: readonly Removal[]): Promise<void> {
    const statement = this.#prepared(
      table.marksRemovals
        ? `update ${quoted(table.name)} set removed_at = ? where id = ? and removed_at is null`
        : `delete from ${quoted(table.name)} where ? is not null and id = ?`,
    )
    for (const { id, removedAt } of removals) statement.run(removedAt, id)
  }

  async replace(table: Table, by: Table, removedAt: string): Promise<void> {
    const [to, from] = [quoted(table.name), quoted(by.name)]
    const gone = `not exists (select 1 from ${from} as other where other.id = ${to}.id)`
    this.#prepared(
      table.marksRemovals
        ? `update ${to} set removed_at = ? where removed_at is null and ${gone}`
        : `delete from ${to} where ? is not null and ${gone}`,
    ).run(removedAt)
    const columns = [...columnsOf(table), ...(table.marksRemovals ? ['removed_at'] : [])]
    const changes = columns.map((name) => `${to}.${name} is not excluded.${name}`)
    this.#prepared(
      `insert into ${to} (${columns.join(', ')}) select ${columns.join(', ')} from ${from} where true
        on conflict (id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
        where ${changes.join(' or ')}`,
    ).run()
  }

  async drop(table: Table): Promise<void> {
    this.#statements.clear()
    this.run(`drop table if exists ${quoted(table.name)}`)
  }
}

const quoted = (name: string) => `"${name}"`

const columnsOf = ({ columns }: Table) => [...columns.map(({ name }) => quoted(name)), '_body']

function assignments(table: Table): string {
  const set = columnsOf(table).map((name) => `${name} = excluded.${name}`)
  return [...set, ...(table.marksRemovals ? ['removed_at = null'] : [])].join(', ')
}

const existing = ({ marksRemovals }: Table, word: 'where' | 'and') =>
  marksRemovals ? ` ${word} removed_at is null` : ''

function selected({ name, columns }: Table): string {
  const read = columns.map((column) =>
    column.type === 'integer' || column.type === 'boolean'
      ? `cast(${quoted(column.name)} as text)`
      : quoted(column.name),
  )
  return `select ${[...read, '_body'].join(', ')} from ${quoted(name)}`
}

function storedRow(values: Cell[]): StoredRow {
  const text = values.pop() as string
  return { id: values[0] as string, text, cells: values }
}

const valuesOf = ({ cells, text }: StoredRow) => [
  ...cells.map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)),
  text,
]
