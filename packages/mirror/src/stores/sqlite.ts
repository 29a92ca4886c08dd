/**
 * A copy in an SQLite file, by Node's SQLite. While the mirror writes, the file is in WAL mode: readers see the last
 * complete page, and block nobody. Closed, it is one file, which programs that may not write can read.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { IdRange } from '@deskwire/sdk'
import { MirrorError } from '../error.ts'
import { makeOwnFile, requireFree } from '../files.ts'
import { Queue } from '../queue.ts'
import { unholdable } from '../row.ts'
import {
  type Cell,
  type Column,
  type ColumnType,
  type Drift,
  driftOf,
  FileTaken,
  type Held,
  isIndexed,
  NameTaken,
  type OpenOptions,
  type Removal,
  type RemovedRow,
  RowRefused,
  removalColumns,
  type Store,
  type StoredRow,
  type StoreReader,
  StoreUnavailable,
  type StoreWriter,
  sentences,
  type Table,
  type VersionEnd,
  type VersionKey,
  WriteRefused,
} from '../store.ts'
import { quoted } from './sql.ts'

export interface SqliteOptions {
  /** The file, created if missing. */
  readonly file: string
  /** Milliseconds to wait for another writer of the file, with this thread blocked. Default: 5,000. */
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
  texts: 'text',
}

const rowsOfPiece = 1_000

const hex = (digits: number) => '[0-9a-f]'.repeat(digits)
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

  async open({ creates = true, free = [] }: OpenOptions = {}): Promise<boolean> {
    if (this.#writer !== undefined) return true
    if (!existsSync(this.#file)) {
      if (!creates) return false
      requireFree(this.#file, ['-wal', '-shm', '-journal'])
      makeOwnFile(this.#file)
    }
    const writer = new Connection(this.#file, this.#busyMs)
    try {
      const hasNotes = writer.hasNotes(free)
      if (!hasNotes && !creates) {
        writer.close()
        return false
      }
      if (!hasNotes) {
        writer.beginWriting()
        writer.run(
          'create table if not exists deskwire_mirror (name text primary key, value text not null) strict',
        )
      }
    } catch (error) {
      writer.close()
      if ((error as SqliteError).errcode === notADatabase) throw new FileTaken(this.#file)
      // A place where no file can be does not pass.
      throw codeOf(error) === cannotOpen ? error : translated(error)
    }
    this.#reader = new Connection(this.#file, this.#busyMs)
    this.#writer = writer
    return true
  }

  async close(): Promise<void> {
    this.#reader?.close()
    this.#writer?.endWriting()
    this.#writer?.close()
    this.#reader = undefined
    this.#writer = undefined
  }

  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    return this.#writes.run(() => transaction(opened(this.#writer), true, work))
  }

  read<T>(work: (at: StoreReader) => Promise<T>): Promise<T> {
    return this.#reads.run(() => transaction(opened(this.#reader), false, work))
  }

  /** SQLite has no booleans; numbers are read as text, as others' may exceed ours. */
  shown({ type }: Pick<Column, 'type'>, cell: Cell): Cell {
    if (typeof cell === 'boolean') return cell ? '1' : '0'
    return type === 'integer' && cell !== null ? String(cell) : cell
  }

  refusal(table: Table, row: StoredRow): string | undefined {
    return unholdable(table, row)
  }
}

function opened(connection: Connection | undefined): Connection {
  if (connection === undefined) throw new Error('the store is not open')
  return connection
}

async function transaction<T>(
  connection: Connection,
  writes: boolean,
  work: (tx: StoreWriter) => Promise<T>,
): Promise<T> {
  try {
    if (writes) connection.beginWriting()
    connection.run(writes ? 'begin immediate' : 'begin')
    const result = await work(connection)
    connection.run('commit')
    return result
  } catch (error) {
    if (connection.isInTransaction) connection.run('rollback')
    const known = translated(error)
    if (known !== error || (error as SqliteError).code !== 'ERR_SQLITE_ERROR') throw known
    throw new WriteRefused('SQLite', error as Error)
  }
}

interface SqliteError {
  readonly code?: string
  readonly errcode?: number
}

const codeOf = (error: unknown) => ((error as SqliteError).errcode ?? 0) & 0xff

const taken = 'Another program writes to the file, or has it locked: wait for it, or end it.'
/** What may pass by itself, and what to do about it. */
const passing: Readonly<Record<number, string>> = {
  5: taken,
  6: taken,
  8: 'The user of the mirror has to be able to write the file and its directory.',
  10: 'Look whether the disk of the file answers. A copy needs a local disk: network shares do not lock files reliably.',
  13: 'Make space on the disk of the file.',
  14: 'Look whether the directory of the file is there, and whether the user of the mirror can write to it.',
}
const [cannotOpen, damaged] = [14, 11]

function translated(error: unknown): unknown {
  const told = (next: string) => sentences('SQLite', error as Error, next)
  const code = codeOf(error)
  if (code === damaged)
    return new MirrorError(told('Move the file away, and run the command again for a new copy.'))
  const next = passing[code]
  return next === undefined ? error : new StoreUnavailable(told(next), { cause: error })
}

const notADatabase = 26
/** Too large, a constraint, and another type than the column's. */
const ofTheRow = [18, 19, 20]

class Connection implements StoreWriter {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #isWriting = false

  constructor(file: string, busyMs: number) {
    this.#database = new DatabaseSync(file)
    this.run(`pragma busy_timeout = ${busyMs}`)
  }

  /** A file that is only looked at stays as it is. */
  beginWriting(): void {
    if (this.#isWriting) return
    this.run('pragma journal_mode = wal')
    // A power failure may undo the last transactions, each whole, rows with their cursor: the copy is then older, and
    // as exact.
    this.run('pragma synchronous = normal')
    // Overwrites removed rows in the file.
    this.run('pragma secure_delete = on')
    this.#isWriting = true
  }

  /** Makes one file of it again, unless others have it open. */
  endWriting(): void {
    if (!this.#isWriting) return
    try {
      this.run('pragma busy_timeout = 0')
      this.run('pragma journal_mode = delete')
    } catch {
      // The next mirror that closes it alone does.
    }
  }

  /** Whether the notes' table exists. @throws NameTaken if it does not, and its name or one of `free` is taken. */
  hasNotes(free: readonly string[]): boolean {
    const held = this.#held('deskwire_mirror')
    if (held && (held.other || !(held.columns.has('name') && held.columns.has('value'))))
      throw new NameTaken('deskwire_mirror')
    const taken = held ? undefined : free.find((name) => this.#held(name) !== undefined)
    if (taken !== undefined) throw new NameTaken(taken)
    return held !== undefined
  }

  /**
   * Whether a column can later have nulls again, as in SQLite 3.53; otherwise it has to take them from the beginning.
   */
  get #relaxes(): boolean {
    const [[version] = []] = this.#read('select sqlite_version()')
    const [major = 0, minor = 0] = String(version).split('.').map(Number)
    return major > 3 || minor >= 53
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  run(sql: string): void {
    this.#database.exec(sql)
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

  async notes(prefix: string): Promise<readonly string[]> {
    const sql = 'select value from deskwire_mirror where substr(name, 1, length(?1)) = ?1 order by name'
    return this.#read(sql, prefix).map(([value]) => value as string)
  }

  async drift(table: Table): Promise<readonly Drift[] | undefined> {
    return driftOf(table, types, this.#held(table.name))
  }

  /** Names match in any case, as in SQLite. */
  #held(name: string): Held | undefined {
    const rows = this.#read(
      `select s.type, t.name, t.type from sqlite_schema as s, pragma_table_info(s.name) as t
        where s.name = ? collate nocase and s.type in ('table', 'view')`,
      name,
    )
    const [[is] = []] = rows
    if (is === undefined) return undefined
    const columns = new Map(rows.map(([, column, type]) => [String(column), String(type)]))
    return { other: is === 'view' ? 'a view' : undefined, columns }
  }

  async count(table: Table): Promise<{ existing: number; removed: number }> {
    const removed = table.marksRemovals ? 'count(_removal)' : '0'
    const [row] = this.#read(`select count(*), ${removed} from ${quoted(table.name)}`)
    const [all = 0, of = 0] = (row ?? []).map(Number)
    return { existing: all - of, removed: of }
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
    const statement = this.#database.prepare(`${selected(table)} where ${where}`)
    statement.setReturnArrays(true)
    for (const values of statement.iterate(after, before)) {
      piece.push(storedRow(table, values as unknown as Cell[]))
      if (piece.length < rowsOfPiece) continue
      yield piece
      piece = []
    }
    if (piece.length > 0) yield piece
  }

  async get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]> {
    const where = `id in (select value from json_each(?))${existing(table, 'and')}`
    const rows = this.#read(`${selected(table)} where ${where}`, JSON.stringify(ids))
    return rows.map((values) => storedRow(table, values))
  }

  async *removed(table: Table, which: IdRange | readonly string[]): AsyncGenerator<readonly RemovedRow[]> {
    if (!table.marksRemovals) return
    const isRange = 'after' in which
    const where = isRange ? 'id > ? and id <= ?' : 'id in (select value from json_each(?))'
    const values = isRange ? [which.after, which.before] : [JSON.stringify(which)]
    const sql = `${selected(table, ['_removal'])} where ${where} and _removal is not null order by id`
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    for (const row of statement.iterate(...values)) {
      const cells = row as unknown as Cell[]
      const removal = cells.pop() as string
      yield [{ ...storedRow(table, cells), removal }]
    }
  }

  async idsBeyond(table: Table, other: Table): Promise<readonly string[]> {
    const lacks = `not exists (select 1 from ${quoted(other.name)} as other where other.id = held.id${existing(other, 'and', 'other')})`
    const sql = `select id from ${quoted(table.name)} as held where ${lacks}${existing(table, 'and', 'held')}`
    return this.#read(sql).map(([id]) => id as string)
  }

  async define(table: Table): Promise<void> {
    const columns = [
      ...table.columns.map((column, n) =>
        n === 0
          ? `id text primary key not null check (id glob '${uuid}')`
          : `${quoted(column.name)} ${types[column.type]}${column.required && this.#relaxes ? ' not null' : ''}`,
      ),
      '_body text not null',
      ...removalColumns(table).map(({ name, type }) => `${name} ${types[type]}`),
    ]
    this.run(`create table if not exists ${quoted(table.name)} (${columns.join(', ')}) strict`)
    const there = this.#held(table.name)?.columns ?? new Map()
    const demanding = this.#read('select name from pragma_table_info(?) where "notnull"', table.name).flat()
    for (const column of [...table.columns.slice(1), ...removalColumns(table)]) {
      const is = there.get(column.name)?.toLowerCase()
      const isOther = is !== undefined && is !== types[column.type]
      const [alter, it] = [`alter table ${quoted(table.name)}`, quoted(column.name)]
      if (isOther) this.run(`${alter} drop column ${it}`)
      if (isOther || is === undefined) this.run(`${alter} add column ${it} ${types[column.type]}`)
      else if (!('required' in column && column.required) && demanding.includes(column.name))
        this.run(`${alter} alter column ${it} drop not null`)
    }
  }

  async index(table: Table): Promise<void> {
    for (const column of table.columns) {
      const index = quoted(`${table.name}_${column.name}`)
      if (isIndexed(column))
        this.run(`create index if not exists ${index} on ${quoted(table.name)} (${quoted(column.name)})`)
    }
  }

  async append(table: Table, rows: Iterable<StoredRow>): Promise<void> {
    const columns = columnsOf(table)
    const statement = this.#prepared(
      `insert into ${quoted(table.name)} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    )
    this.#writeRows(statement, rows)
  }

  #writeRows(statement: StatementSync, rows: Iterable<StoredRow>): void {
    for (const row of rows) {
      try {
        statement.run(...valuesOf(row))
      } catch (error) {
        const { errcode = 0, message } = error as { errcode?: number; message: string }
        if (ofTheRow.includes(errcode & 0xff)) throw new RowRefused(message, { cause: error })
        throw error
      }
    }
  }

  async put(table: Table, rows: readonly StoredRow[]): Promise<void> {
    const columns = columnsOf(table)
    const statement = this.#prepared(
      `insert into ${quoted(table.name)} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
        on conflict (id) do update set ${assignments(table)}`,
    )
    this.#writeRows(statement, rows)
  }

  async remove(table: Table, removals: readonly Removal[]): Promise<void> {
    const statement = this.#prepared(
      table.marksRemovals
        ? `update ${quoted(table.name)} set removed_at = ?, _removal = ? where id = ? and _removal is null`
        : `delete from ${quoted(table.name)} where id = ?`,
    )
    for (const { id, removedAt, removal } of removals)
      statement.run(...(table.marksRemovals ? [removedAt, removal] : []), id)
  }

  async erase({ name }: Table, ids: readonly string[], by: VersionKey = 'id'): Promise<void> {
    const statement = this.#prepared(`delete from ${quoted(name)} where ${by} = ?`)
    for (const id of ids) statement.run(id)
  }

  async endVersions({ name }: Table, ends: readonly VersionEnd[], by: VersionKey): Promise<void> {
    const statement = this.#prepared(
      `update ${quoted(name)} set valid_to = max(?, valid_from) where ${by} = ? and valid_to is null`,
    )
    for (const { id, at } of ends) statement.run(at, id)
  }

  async replace(table: Table, by: Table, keeps = table.marksRemovals): Promise<void> {
    const [to, from] = [quoted(table.name), quoted(by.name)]
    if (!keeps)
      this.run(
        `delete from ${to} where not exists (select 1 from ${from} as other where other.id = ${to}.id)`,
      )
    const columns = [...columnsOf(table), ...removalColumns(table).map(({ name }) => name)]
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

const columnsOf = ({ columns }: Table) => [...columns.map(({ name }) => quoted(name)), '_body']

function assignments(table: Table): string {
  const set = columnsOf(table).map((name) => `${name} = excluded.${name}`)
  return [...set, ...removalColumns(table).map(({ name }) => `${name} = null`)].join(', ')
}

const existing = ({ marksRemovals }: Table, word: 'where' | 'and', of?: string) =>
  marksRemovals ? ` ${word} ${of === undefined ? '' : `${of}.`}_removal is null` : ''

function selected({ name, columns, marksRemovals }: Table, more: readonly string[] = []): string {
  const read = columns.map((column) =>
    column.type === 'integer' || column.type === 'boolean'
      ? `cast(${quoted(column.name)} as text)`
      : quoted(column.name),
  )
  const own = marksRemovals ? ['_body', 'removed_at'] : ['_body']
  return `select ${[...read, ...own, ...more].join(', ')} from ${quoted(name)}`
}

function storedRow({ marksRemovals }: Table, values: Cell[]): StoredRow {
  const removed = marksRemovals ? { removedAt: values.pop() ?? null } : {}
  const text = values.pop() as string
  return { id: values[0] as string, text, cells: values, ...removed }
}

const valuesOf = ({ cells, text }: StoredRow) => [
  ...cells.map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)),
  text,
]
