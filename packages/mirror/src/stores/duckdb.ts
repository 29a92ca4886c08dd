/**
 * A copy in a DuckDB file, by `@duckdb/node-api`, which the application installs. Only one process at a time can open
 * a file that is written to: query the copy in the mirror's process, or use an export.
 */

import { chmodSync, chownSync, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { IdRange } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  type DuckDBType,
  DuckDBUUIDValue,
  type DuckDBValue,
  TIMESTAMPTZ,
  UUID,
  VARCHAR,
} from '@duckdb/node-api'
import { MirrorError } from '../error.ts'
import { requireFree } from '../files.ts'
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
import { literal, quoted } from './sql.ts'

export interface DuckDbOptions {
  /** The file, created if missing. */
  readonly file: string
  /**
   * Settings of DuckDB, for example `{ memory_limit: '1GB', threads: '2' }`. Default: `checkpoint_threshold` 256 MB.
   */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * Whether `close` rewrites the file if rows were deleted, as DuckDB leaves their bytes in it. Nothing else in this
   * process may have the file open then. Default: false.
   */
  readonly rewrites?: boolean
}

/** For each column type: DuckDB's type, the value to write, and SQL that reads it exactly, as a JSON value. */
interface Sort {
  readonly sql: string
  readonly type: DuckDBType
  readonly value: (cell: Exclude<Cell, null>) => DuckDBValue
  readonly read: (name: string) => string
}

const asIs = (name: string) => name
const asText = (name: string) => `cast(${name} as varchar)`

const sorts: Record<ColumnType, Sort> = {
  uuid: { sql: 'uuid', type: UUID, value: (cell) => uuidOf(cell as string), read: asText },
  text: { sql: 'varchar', type: VARCHAR, value: (cell) => cell, read: asIs },
  integer: { sql: 'bigint', type: BIGINT, value: (cell) => BigInt(cell as number), read: asText },
  number: {
    sql: 'double',
    type: DOUBLE,
    value: (cell) => cell,
    // JSON has no infinity.
    read: (name) => `case when isfinite(${name}) then to_json(${name}) else to_json(${asText(name)}) end`,
  },
  boolean: { sql: 'boolean', type: BOOLEAN, value: (cell) => cell, read: asIs },
  timestamp: {
    sql: 'timestamptz',
    type: TIMESTAMPTZ,
    value: (cell) => new DuckDBTimestampTZValue(microsOf(cell as string)),
    // As text a time would be in the session's zone, and infinity has no microseconds.
    read: (name) =>
      `case when isfinite(${name}) then cast(epoch_us(${name}) as varchar) else cast(${name} as varchar) end`,
  },
  // A text with a check: what is read is what was written.
  json: { sql: 'json', type: VARCHAR, value: (cell) => cell, read: asText },
  texts: { sql: 'json', type: VARCHAR, value: (cell) => cell, read: asText },
}

const text: Sort = sorts.text

/** DuckDB's names of the types. */
const shownTypes = Object.fromEntries(Object.entries(sorts).map(([type, { sql }]) => [type, sql])) as Record<
  ColumnType,
  string
>
shownTypes.timestamp = 'timestamp with time zone'

/** Rows for each statement of `rows`, which scans all ids of the range. */
const rowsOfPiece = 10_000

const rowsOfChunk = 2_048

/**
 * WAL size of a checkpoint, which compresses up to 122,880 rows a table again: DuckDB's 16 MB take two to three times
 * as long to load.
 */
const checkpointThreshold = '256MB'

/** Writers of a file in this process, one after another: of two at once DuckDB would refuse one. */
const writers = new Map<string, Queue>()

function writersOf(file: string): Queue {
  const queue = writers.get(file) ?? new Queue()
  writers.set(file, queue)
  return queue
}

export class DuckDbStore implements Store {
  readonly #options: DuckDbOptions
  readonly #writes: Queue
  readonly #reads = new Queue()
  #instance: DuckDBInstance | undefined
  #database = ''
  #writer: Connection | undefined
  #reader: Connection | undefined

  constructor(options: DuckDbOptions) {
    this.#options = options
    this.#writes = writersOf(resolve(options.file))
  }

  async open({ creates = true, free = [] }: OpenOptions = {}): Promise<boolean> {
    if (this.#instance !== undefined) return true
    const { file, settings = {} } = this.#options
    const isNew = !existsSync(file)
    if (isNew) {
      if (!creates) return false
      requireFree(file, ['.wal'])
    }
    const misnamed = () => {
      if (isNew) rmSync(file, { force: true })
      return new MirrorError(
        `DuckDB names a database after its file, and reserves ${reserved.join(', ')}. Give ${file} another name.`,
      )
    }
    // Two instances of a file in one process would not know of each other.
    const instance = await DuckDBInstance.fromCache(file, settings).catch((error: Error) => {
      if (error.message.includes('not a valid DuckDB database file')) throw new FileTaken(file)
      if (/Database name \w+ was already used/.test(error.message)) throw misnamed()
      if (!error.message.includes('Could not set lock')) throw error
      throw new StoreUnavailable(
        `${file} is open in another process, and DuckDB lets one process at a time write to a file. Close it there, or read the copy between two runs of \`--every\`.`,
        { cause: error },
      )
    })
    const writer = new Connection(await instance.connect())
    const close = () => {
      writer.close()
      instance.closeSync()
    }
    this.#database = await writer.databaseName()
    if (reserved.includes(this.#database.toLowerCase())) {
      close()
      throw misnamed()
    }
    const hasNotes = await writer.hasNotes(free).catch((error) => {
      close()
      throw error
    })
    if (!creates && !hasNotes) {
      close()
      return false
    }
    if (settings.checkpoint_threshold === undefined)
      await writer.run(`set global checkpoint_threshold = '${checkpointThreshold}'`)
    await writer.run(
      'create table if not exists deskwire_mirror (name varchar primary key, value varchar not null)',
    )
    this.#writer = writer
    this.#reader = new Connection(await instance.connect())
    this.#instance = instance
    return true
  }

  async close(): Promise<void> {
    const { file, settings = {}, rewrites } = this.#options
    const isFull = rewrites && (await this.#reader?.note(deletedNote).catch(() => undefined)) !== undefined
    for (const connection of [this.#reader, this.#writer]) connection?.close()
    this.#instance?.closeSync()
    this.#instance = undefined
    this.#reader = undefined
    this.#writer = undefined
    if (!isFull) return
    await rewritten(file, settings).catch((error: Error) => {
      const next = passing.test(error.message)
        ? nextOf(error)
        : 'Drop the object that it names, or begin the copy again in a new file.'
      throw new StoreUnavailable(
        sentences(`${file} holds deleted rows, as it cannot be rewritten`, error, next),
        { cause: error },
      )
    })
  }

  /** The name that DuckDB gives the database of the file. */
  get databaseName(): string {
    return this.#database
  }

  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    return this.#writes.run(() => opened(this.#writer).transaction(work))
  }

  read<T>(work: (at: StoreReader) => Promise<T>): Promise<T> {
    return this.#reads.run(() => opened(this.#reader).transaction(work))
  }

  shown({ type }: Pick<Column, 'type'>, cell: Cell): Cell {
    if (cell === null) return null
    if (type === 'timestamp') return String(microsOf(cell as string))
    return type === 'integer' ? String(cell) : cell
  }

  refusal(table: Table, row: StoredRow): string | undefined {
    return unholdable(table, row)
  }
}

/** Names of DuckDB's own, of which it takes other spellings from a file, and then mistakes one for the other. */
const reserved = ['main', 'system', 'temp']

/** The note that rows were deleted since the file was written. */
const deletedNote = 'deleted'

/** Copies what exists into a new file, which takes the place of the old one: DuckDB overwrites no deleted rows. */
async function rewritten(file: string, settings: Readonly<Record<string, string>>): Promise<void> {
  // A link stays, and what it leads to is replaced.
  const place = realpathSync(file)
  const next = `${place}.deskwire-next`
  const remove = () => [next, `${next}.wal`].map((path) => rmSync(path, { force: true }))
  remove()
  try {
    const instance = await DuckDBInstance.fromCache(file, settings)
    const connection = new Connection(await instance.connect())
    try {
      // One that has the old file open would go on with it.
      if (!(await connection.isAlone())) return
      const { mode, uid, gid } = statSync(place)
      await connection.run(`attach ${literal(next)} as deskwire_next`)
      chmodSync(next, mode)
      chownSync(next, uid, gid)
      await connection.run(`copy from database ${quoted(await connection.databaseName())} to deskwire_next`)
      await connection.run(`delete from deskwire_next.main.deskwire_mirror where name = '${deletedNote}'`)
      await connection.run('detach deskwire_next')
    } finally {
      connection.close()
      instance.closeSync()
    }
    // A log would be replayed into the other file.
    if (![file, place, next].some((path) => existsSync(`${path}.wal`))) renameSync(next, place)
  } finally {
    remove()
  }
}

function opened(connection: Connection | undefined): Connection {
  if (connection === undefined) throw new Error('the store is not open')
  return connection
}

class Connection implements StoreWriter {
  readonly #connection: DuckDBConnection

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  close(): void {
    this.#connection.closeSync()
  }

  async transaction<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    await this.run('begin')
    try {
      const result = await work(this)
      await this.run('commit')
      return result
    } catch (error) {
      // A commit that failed has ended it.
      await this.run('rollback').catch(() => {})
      if (error instanceof Error && ofTheRow.test(error.message))
        throw new RowRefused(error.message, { cause: error })
      if (error instanceof Error && passing.test(error.message))
        throw new StoreUnavailable(sentences('DuckDB', error, nextOf(error)), { cause: error })
      throw error instanceof Error && refusing.test(error.message) ? new WriteRefused('DuckDB', error) : error
    }
  }

  async databaseName(): Promise<string> {
    const [[name] = []] = await this.#read('select current_database()')
    return String(name)
  }

  /** Whether this is the only connection of the process to the database, as far as this version of DuckDB shows. */
  async isAlone(): Promise<boolean> {
    const [[count] = []] = await this.#read('select "count" from duckdb_connection_count()').catch(() => [
      [1],
    ])
    return Number(count) === 1
  }

  async run(sql: string, ...values: string[]): Promise<void> {
    await this.#connection.run(sql, values)
  }

  async #read(sql: string, ...values: string[]): Promise<Cell[][]> {
    return (await this.#connection.runAndReadAll(sql, values)).getRows() as Cell[][]
  }

  /** Whether the notes' table exists. @throws NameTaken if it does not, and its name or one of `free` is taken. */
  async hasNotes(free: readonly string[]): Promise<boolean> {
    const held = await this.#held('deskwire_mirror')
    if (held && (held.other || !(held.columns.has('name') && held.columns.has('value'))))
      throw new NameTaken('deskwire_mirror')
    if (held) return true
    for (const name of free) if ((await this.#held(name)) !== undefined) throw new NameTaken(name)
    return false
  }

  async note(name: string): Promise<string | undefined> {
    const [row] = await this.#read('select value from deskwire_mirror where name = $1', name)
    return row?.[0] as string | undefined
  }

  async notes(prefix: string): Promise<readonly string[]> {
    const rows = await this.#read(
      'select value from deskwire_mirror where starts_with(name, $1) order by name',
      prefix,
    )
    return rows.map(([value]) => value as string)
  }

  async drift(table: Table): Promise<readonly Drift[] | undefined> {
    return driftOf(table, shownTypes, await this.#held(table.name))
  }

  async count({ name, marksRemovals }: Table): Promise<{ existing: number; removed: number }> {
    const removed = marksRemovals ? 'count(_removal)' : '0'
    const [row] = await this.#read(`select count(*), ${removed} from ${quoted(name)}`)
    const [all = 0, of = 0] = (row ?? []).map(Number)
    return { existing: all - of, removed: of }
  }

  async setNote(name: string, value: string | null): Promise<void> {
    if (value === null) {
      await this.run('delete from deskwire_mirror where name = $1', name)
      await this.#noteDeleted()
    } else
      await this.run(
        'insert into deskwire_mirror (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
        name,
        value,
      )
  }

  #noteDeleted(): Promise<void> {
    return this.setNote(deletedNote, '')
  }

  async span(table: Table): Promise<{ lowest: string; highest: string } | null> {
    const [row] = await this.#read(
      `select cast(min(id) as varchar), cast(max(id) as varchar) from ${quoted(table.name)} where ${existing(table)}`,
    )
    const [lowest, highest] = row as [string | null, string | null]
    return lowest === null || highest === null ? null : { lowest, highest }
  }

  /** Sorting them all would load them into memory: first the ids, then the rows between some of them. */
  async *rows(table: Table, { after, before }: IdRange): AsyncGenerator<readonly StoredRow[]> {
    const ids = `select id, row_number() over (order by id) as n, count(*) over () as total
      from ${quoted(table.name)} where ${between(after, before)} and ${existing(table)}`
    const ends = await this.#read(
      `select cast(id as varchar) from (${ids}) where n % ${rowsOfPiece} = 0 or n = total order by id`,
    )
    let from = after
    for (const [end] of ends) {
      const to = end as string
      yield await this.#rowsWhere(table, between(from, to))
      from = to
    }
  }

  async get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]> {
    return ids.length === 0 ? [] : this.#rowsWhere(table, amongIds(ids))
  }

  async *removed(table: Table, which: IdRange | readonly string[]): AsyncGenerator<readonly RemovedRow[]> {
    if (!table.marksRemovals || ('length' in which && which.length === 0)) return
    const where = 'after' in which ? between(which.after, which.before) : amongIds(which)
    const isRemoved = `${where} and _removal is not null`
    for (let n = 0; ; n += rowsOfPiece) {
      const rows = await this.#rowsAt(table, `${isRemoved} order by id limit ${rowsOfPiece} offset ${n}`)
      if (rows.length > 0) yield rows.map((row) => ({ ...row, removal: row.removal as string }))
      if (rows.length < rowsOfPiece) return
    }
  }

  async idsBeyond(table: Table, other: Table): Promise<readonly string[]> {
    const of = `from ${quoted(other.name)} as other where other.id = held.id and ${existing(other, 'other')}`
    const rows = await this.#read(
      `select cast(id as varchar) from ${quoted(table.name)} as held where not exists (select 1 ${of}) and ${existing(table, 'held')}`,
    )
    return rows.map(([id]) => id as string)
  }

  async #rowsWhere(table: Table, where: string): Promise<StoredRow[]> {
    const rows = await this.#rowsAt(table, `${where} and ${existing(table)} order by id`)
    return rows.map(({ removal: _, ...row }) => row)
  }

  /** A row's cells as one JSON array: the client takes as long for each value as for a whole text. */
  async #rowsAt(table: Table, where: string): Promise<(StoredRow & { removal?: Cell })[]> {
    const cells = table.columns.map(({ name, type }) => sorts[type].read(quoted(name)))
    const own = table.marksRemovals ? [sorts.timestamp.read('removed_at'), '_removal'] : []
    const rows = await this.#read(
      `select cast(json_array(${cells.join(', ')}) as varchar), ${['_body', ...own].join(', ')}
        from ${quoted(table.name)} where ${where}`,
    )
    return rows.map(([json, body, removedAt = null, removal = null]) => {
      const cells = readJson(json as string) as Cell[]
      const row = { id: cells[0] as string, text: body as string, cells }
      return table.marksRemovals ? { ...row, removedAt, removal } : row
    })
  }

  async define(table: Table): Promise<void> {
    const columns = [
      ...table.columns.map(({ name, type, required }, n) =>
        n === 0 ? 'id uuid primary key' : `${quoted(name)} ${sorts[type].sql}${required ? ' not null' : ''}`,
      ),
      '_body varchar not null',
      ...removalColumns(table).map(({ name, type }) => `${name} ${sorts[type].sql}`),
    ]
    await this.run(`create table if not exists ${quoted(table.name)} (${columns.join(', ')})`)
    await this.run(`comment on table ${quoted(table.name)} is ${literal(table.comment)}`)
    const there = await this.#columnsOf(table.name)
    const demanding = await this.#demanding(table.name)
    for (const [n, column] of [...table.columns, ...removalColumns(table)].entries()) {
      const { name, type, comment } = column
      const is = there.get(name)?.toLowerCase()
      const isOther = n > 0 && is !== undefined && is !== shownTypes[type]
      const [alter, it] = [`alter table ${quoted(table.name)}`, quoted(name)]
      if (isOther) await this.run(`${alter} drop column ${it}`)
      if (isOther || is === undefined) await this.run(`${alter} add column ${it} ${sorts[type].sql}`)
      else if (n > 0 && !('required' in column && column.required) && demanding.includes(name))
        await this.run(`${alter} alter column ${it} drop not null`)
      await this.run(`comment on column ${quoted(table.name)}.${it} is ${literal(comment)}`)
    }
  }

  async #held(name: string): Promise<Held | undefined> {
    const columns = await this.#columnsOf(name)
    if (columns.size === 0) return undefined
    const views = await this.#read(
      'select 1 from duckdb_views() where not internal and lower(view_name) = lower($1) and schema_name = current_schema()',
      name,
    )
    return { other: views.length > 0 ? 'a view' : undefined, columns }
  }

  /** With their types, in the table's order: columns of later releases come last. Names match in any case. */
  async #columnsOf(name: string): Promise<Map<string, string>> {
    return new Map((await this.#describe(name)).map(([column, type]) => [column as string, type as string]))
  }

  async #demanding(table: string): Promise<Cell[]> {
    return (await this.#describe(table)).flatMap(([column, , nullable]) =>
      nullable === 'NO' ? [column ?? null] : [],
    )
  }

  /**
   * Empty without the table: `duckdb_columns()` lists every column of all tables first, which takes three times as
   * long.
   */
  async #describe(name: string): Promise<Cell[][]> {
    return this.#read(`describe ${quoted(name)}`).catch((error: Error) => {
      if (error.message.startsWith(`Catalog Error: Table with name ${name} does not exist`)) return []
      throw error
    })
  }

  /** None: DuckDB skips data by minima and maxima, and an index would forbid new columns. */
  async index(): Promise<void> {}

  async append(table: Table, rows: Iterable<StoredRow>): Promise<void> {
    await this.#appendTo(table, table.name, [...(await this.#columnsOf(table.name)).keys()], rows)
  }

  async put(table: Table, rows: readonly StoredRow[]): Promise<void> {
    if (rows.length === 0) return
    const names = [...(await this.#columnsOf(table.name)).keys()]
    const columns = names.map(quoted).join(', ')
    await this.run(
      `create or replace temp table deskwire_put as select ${columns} from ${quoted(table.name)} limit 0`,
    )
    await this.#appendTo(table, 'deskwire_put', names, rows)
    const set = names.flatMap((name) => (name === 'id' ? [] : [`${quoted(name)} = excluded.${quoted(name)}`]))
    await this.run(
      `insert into ${quoted(table.name)} (${columns}) select ${columns} from deskwire_put on conflict (id) do update set ${set.join(', ')}`,
    )
    await this.run('drop table deskwire_put')
  }

  /** Column by column, in chunks: a call for each value takes twice the time. Missing values are null. */
  async #appendTo(
    table: Table,
    name: string,
    names: readonly string[],
    rows: Iterable<StoredRow>,
  ): Promise<void> {
    const cells = names.map((column) => table.columns.findIndex((one) => one.name === column))
    const filled = names.map((column, n): Sort => {
      const known = table.columns[cells[n] ?? -1]
      return known ? sorts[known.type] : column === 'removed_at' ? sorts.timestamp : text
    })
    const appender = await this.#connection.createAppender(name)
    try {
      for (const piece of chunked(rows, rowsOfChunk)) {
        const chunk = DuckDBDataChunk.create(
          filled.map(({ type }) => type),
          piece.length,
        )
        for (const [n, column] of names.entries()) {
          const at = cells[n] ?? -1
          const { value } = filled[n] ?? text
          const cell = (row: StoredRow) => (column === '_body' ? row.text : (row.cells[at] ?? null))
          chunk.setColumnValues(
            n,
            piece.map((row) => {
              const one = cell(row)
              return one === null ? null : value(one)
            }),
          )
        }
        appender.appendDataChunk(chunk)
      }
      appender.closeSync()
    } catch (error) {
      // Otherwise, when it is collected as garbage, it appends what it holds in whatever transaction runs then.
      appender.clear()
      throw error
    }
  }

  async remove(table: Table, removals: readonly Removal[]): Promise<void> {
    if (removals.length === 0) return
    const name = quoted(table.name)
    if (!table.marksRemovals)
      return await this.erase(
        table,
        removals.map(({ id }) => id),
      )
    const gone = removals.map(
      ({ id, removedAt, removal }) => `(${idLiteral(id)}, ${timeLiteral(removedAt)}, ${literal(removal)})`,
    )
    await this.run(
      `update ${name} set removed_at = gone.time, _removal = gone.removal
        from (values ${gone.join(', ')}) as gone (id, time, removal)
        where ${name}.id = gone.id and ${name}._removal is null`,
    )
  }

  async erase({ name }: Table, ids: readonly string[], by: VersionKey = 'id'): Promise<void> {
    if (ids.length === 0) return
    await this.run(`delete from ${quoted(name)} where ${amongIds(ids, by)}`)
    await this.#noteDeleted()
  }

  async endVersions({ name }: Table, ends: readonly VersionEnd[], by: VersionKey): Promise<void> {
    if (ends.length === 0) return
    const given = ends.map(({ id, at }) => `(${idLiteral(id)}, ${timeLiteral(at)})`)
    await this.run(
      `update ${quoted(name)} set valid_to = greatest(ended.time, ${quoted(name)}.valid_from) from (values ${given.join(', ')}) as ended (id, time)
        where ${quoted(name)}.${by} = ended.id and ${quoted(name)}.valid_to is null`,
    )
  }

  async replace(table: Table, by: Table, keeps = table.marksRemovals): Promise<void> {
    const [to, from] = [quoted(table.name), quoted(by.name)]
    if (!keeps)
      await this.run(
        `delete from ${to} where not exists (select 1 from ${from} as other where other.id = ${to}.id)`,
      )
    const names = [...(await this.#columnsOf(by.name)).keys()].map(quoted)
    const set = names.flatMap((name) => (name === '"id"' ? [] : [`${name} = excluded.${name}`]))
    const differs = names.map((name) => `held.${name} is distinct from other.${name}`).join(' or ')
    await this.run(
      `insert into ${to} (${names.join(', ')}) select ${names.map((name) => `other.${name}`).join(', ')}
        from ${from} as other left join ${to} as held on held.id = other.id where held.id is null or ${differs}
        on conflict (id) do update set ${set.join(', ')}`,
    )
  }

  async drop({ name }: Table): Promise<void> {
    await this.run(`drop table if exists ${quoted(name)}`)
    await this.#noteDeleted()
  }
}

function* chunked<T>(items: Iterable<T>, length: number): Generator<T[]> {
  let piece: T[] = []
  for (const item of items) {
    piece.push(item)
    if (piece.length < length) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

/** In the statement's text, as a list cannot be a parameter. */
function idLiteral(id: string): string {
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new TypeError(`an id is a UUID, not ${JSON.stringify(id)}`)
  return `'${id}'::uuid`
}

function timeLiteral(time: string): string {
  return `make_timestamptz(${microsOf(time)})`
}

const between = (after: string, before: string) => `id > ${idLiteral(after)} and id <= ${idLiteral(before)}`

const amongIds = (ids: readonly string[], by: VersionKey = 'id') =>
  `${by} in (${ids.map(idLiteral).join(', ')})`

const existing = ({ marksRemovals }: Table, of?: string) =>
  marksRemovals ? `${of === undefined ? '' : `${of}.`}_removal is null` : 'true'

/** Another transaction or the disk is in the way. */
const passing = /^(?:TransactionContext|IO|Out of Memory) Error: /

function nextOf({ message }: Error): string {
  // A commit wraps the error of the disk.
  if (/^IO|Could not write|No space left/.test(message))
    return 'Look at the space and the permissions of the place of the file, and whether its disk answers.'
  if (message.startsWith('Out')) return 'Give DuckDB more memory (memory_limit), or close other programs.'
  return 'Another transaction changes the same tables: wait for it, or end it.'
}

/** A database that DuckDB calls invalid has to be opened again. */
const refusing = /^(?!FATAL|INTERNAL)[A-Z][\w ]* Error: /
const ofTheRow = /^(?:(?:Conversion|Invalid Input|Constraint|Out of Range) Error|Failed to append: )/

const uuidOf = (id: string) => DuckDBUUIDValue.fromUint128(BigInt(`0x${id.replaceAll('-', '')}`))

const microsOf = (time: string) => BigInt(Date.parse(time)) * 1_000n
