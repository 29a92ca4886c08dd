/**
 * A copy in a schema of PostgreSQL 15 or later, by `pg` and `pg-copy-streams`, which the application installs.
 * Readers see whole pages; views, grants and indexes that others have put on the tables stay, also when a new copy
 * replaces an old one.
 */

import type { IdRange } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { Client, type ClientConfig, DatabaseError } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { MirrorError } from '../error.ts'
import { Queue } from '../queue.ts'
import { unholdable } from '../row.ts'
import {
  type Cell,
  type Column,
  type ColumnType,
  type Drift,
  driftOf,
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
import { arrayText } from './array-text.ts'
import { copyLine, copyLines, copyValues } from './copy-text.ts'
import { jsonbText } from './jsonb.ts'
import { literal, quoted } from './sql.ts'

export interface PostgresOptions {
  /** A connection string or what `Client` of `pg` takes. */
  readonly connection: string | ClientConfig
  /** The schema of the tables, which should have nothing else; created if missing. Default: `deskwire`. */
  readonly schema?: string
  /**
   * Milliseconds to wait for another writer of the copy, and for tables that another session has locked. Default:
   * 30,000.
   */
  readonly busyMs?: number
}

const types: Record<ColumnType, string> = {
  uuid: 'uuid',
  text: 'text',
  integer: 'bigint',
  number: 'double precision',
  boolean: 'boolean',
  timestamp: 'timestamptz',
  json: 'jsonb',
  texts: 'text[]',
}

/** The server's names of the types. */
const shownTypes: Record<ColumnType, string> = { ...types, timestamp: 'timestamp with time zone' }

/**
 * Set in each transaction, whatever server, database and role default to: values are read and written alike, and
 * nothing limits how long a statement may take. Commits do not wait for the disk: a crash undoes whole ones, rows
 * with their cursor. Nothing is set for longer, nor prepared: behind a pooler the session serves other programs too.
 */
const settings = {
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  synchronous_commit: 'off',
  statement_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

/** Sets those that differ, until the transaction ends; a server may not know them all. */
const setLocal = (values: object) =>
  `select set_config(s.key, s.value, true) from jsonb_each_text(${literal(JSON.stringify(values))}::jsonb) as s
    where current_setting(s.key, true) <> s.value`

/** Characters written to a COPY at once: fewer take more calls, more gain nothing. */
const charactersOfWrite = 256 * 1024

const [writing, reading] = [
  'begin isolation level read committed',
  'begin isolation level repeatable read, read only',
] as const

/** The first number of the advisory lock that a writer holds; the second is the oid of the notes' table. */
const lockClass = 7_377_000

export class PostgresStore implements Store {
  readonly #config: ClientConfig
  readonly #schema: string
  readonly #busyMs: number
  readonly #writes = new Queue()
  readonly #reads = new Queue()
  #writer: Connection | undefined
  #reader: Connection | undefined

  constructor({ connection, schema = 'deskwire', busyMs = 30_000 }: PostgresOptions) {
    this.#config = typeof connection === 'string' ? { connectionString: connection } : connection
    this.#schema = schema
    this.#busyMs = busyMs
  }

  async open({ creates = true, free }: OpenOptions = {}): Promise<boolean> {
    if (creates) {
      await this.#writes.run(async () => (this.#writer ??= await this.#connect(writing, free ?? [])))
      await this.write(async (tx) => tx.note(''))
      return true
    }
    return this.#writes.run(async () => {
      const writer = await this.#connect(writing, null)
      try {
        return await writer.hasNotes()
      } finally {
        await writer.end()
      }
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer?.end(), this.#reader?.end()])
    this.#writer = undefined
    this.#reader = undefined
  }

  write<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    return this.#writes.run(async () => {
      if (this.#writer === undefined || this.#writer.isGone) this.#writer = await this.#connect(writing)
      return this.#writer.transaction(work)
    })
  }

  read<T>(work: (at: StoreReader) => Promise<T>): Promise<T> {
    return this.#reads.run(async () => {
      if (this.#reader === undefined || this.#reader.isGone) this.#reader = await this.#connect(reading)
      return this.#reader.transaction(work)
    })
  }

  shown({ type }: Pick<Column, 'type'>, cell: Cell, value?: unknown): Cell {
    if (cell === null) return null
    if (type === 'timestamp') return shownTime(cell as string)
    if (type === 'json') return jsonbText(value ?? readJson(cell as string))
    if (type === 'texts') return arrayText((value ?? readJson(cell as string)) as string[])
    if (type === 'boolean') return cell ? 't' : 'f'
    return type === 'number' ? shownNumber(cell as number) : String(cell)
  }

  refusal(table: Table, row: StoredRow): string | undefined {
    return unholdable(table, row)
  }

  /** Creates notes if there are none and these names are free; null creates nothing. */
  async #connect(begin: string, free: readonly string[] | null = []): Promise<Connection> {
    const client = new Client({ keepAlive: true, connectionTimeoutMillis: 10_000, ...this.#config })
    const connection = new Connection(client, {
      schema: this.#schema,
      begin: `${begin}; ${setLocal({ ...settings, lock_timeout: `${this.#busyMs}ms` })}`,
      isWriter: begin === writing,
    })
    try {
      await connection.start()
      if (free !== null) await connection.makeNotes(free)
      return connection
    } catch (error) {
      await connection.end()
      throw error
    }
  }
}

class Connection implements StoreWriter {
  readonly #client: Client
  readonly #begin: string
  readonly #schema: string
  readonly #isWriter: boolean
  isGone = false

  constructor(client: Client, of: { schema: string; begin: string; isWriter: boolean }) {
    this.#client = client
    this.#schema = quoted(of.schema)
    this.#begin = of.begin
    this.#isWriter = of.isWriter
    client.on('error', () => {
      this.isGone = true
    })
  }

  /**
   * @throws StoreUnavailable when the server cannot be reached, and MirrorError when the database cannot hold every
   * text.
   */
  async start(): Promise<void> {
    await this.#guarded(() => this.#client.connect())
    const [[encoding] = []] = await this.#rowsOf('show server_encoding', [])
    if (encoding !== 'UTF8')
      throw new MirrorError(
        `The database is encoded in ${encoding}, which cannot hold every text, and nothing was changed. Give the copy a database in UTF8: create database … encoding 'UTF8' template template0.`,
      )
  }

  /** @throws NameTaken when something else has the name of the notes. */
  async hasNotes(): Promise<boolean> {
    const held = await this.#held('deskwire_mirror')
    if (held && (held.other || !(held.columns.has('name') && held.columns.has('value'))))
      throw new NameTaken('deskwire_mirror')
    return held !== undefined
  }

  async #held(name: string): Promise<Held | undefined> {
    const rows = await this.#rowsOf(
      `select c.relkind, a.attname, format_type(a.atttypid, a.atttypmod) from pg_class as c
        left join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.oid = to_regclass($1)`,
      [this.#name(name)],
    )
    const [[kind] = []] = rows
    if (!kind) return undefined
    return {
      other: others(kind),
      columns: new Map(rows.map(([, column, type]) => [column ?? '', type ?? ''])),
    }
  }

  /** The columns that refuse null. */
  async #demanding(table: string): Promise<string[]> {
    const rows = await this.#rowsOf(
      'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and attnotnull',
      [this.#name(table)],
    )
    return rows.map(([name]) => name ?? '')
  }

  async makeNotes(free: readonly string[]): Promise<void> {
    if (await this.hasNotes()) return
    for (const name of free) if ((await this.#held(name)) !== undefined) throw new NameTaken(name)
    // Two that begin at once would both create what neither has found.
    await this.transaction(async () => {
      await this.#run(`create schema if not exists ${this.#schema}`)
      await this.#run(
        `create table if not exists ${this.#schema}.deskwire_mirror (name text primary key, value text not null)`,
      )
    }, '0')
  }

  async end(): Promise<void> {
    await this.#client.end().catch(() => {})
  }

  /** `lock`: the number that a writer locks. */
  async transaction<T>(
    work: (tx: StoreWriter) => Promise<T>,
    lock = `${literal(this.#name('deskwire_mirror'))}::regclass::oid::int`,
  ): Promise<T> {
    try {
      await this.#run(
        this.#isWriter ? `${this.#begin}; select pg_advisory_xact_lock(${lockClass}, ${lock})` : this.#begin,
      )
      const result = await work(this)
      await this.#run('commit')
      return result
    } catch (error) {
      await this.#run('rollback').catch(() => {
        this.isGone = true
      })
      if (this.isGone) await this.end()
      if (isOfRow(error)) throw new RowRefused(error.message, { cause: error })
      throw error instanceof DatabaseError ? new WriteRefused('PostgreSQL', error, nextOf(error)) : error
    }
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!passes(error)) throw error
      this.isGone = true
      const next = nextOf(error) ?? 'Look whether the server runs and can be reached from here.'
      throw new StoreUnavailable(sentences('PostgreSQL', error as Error, next), { cause: error })
    }
  }

  async #run(sql: string): Promise<void> {
    await this.#guarded(() => this.#client.query(sql))
  }

  /** Rows as text, as the server prints them. */
  #rowsOf(text: string, values: unknown[]): Promise<(string | null)[][]> {
    return this.#guarded(async () => {
      const asText = { getTypeParser: () => (value: unknown) => value }
      const query = { text, values, rowMode: 'array' as const, types: asText }
      const { rows } = await this.#client.query<(string | null)[]>(query)
      return rows
    })
  }

  #name(table: string): string {
    return `${this.#schema}.${quoted(table)}`
  }

  async note(name: string): Promise<string | undefined> {
    const [row] = await this.#rowsOf(`select value from ${this.#name('deskwire_mirror')} where name = $1`, [
      name,
    ])
    return row?.[0] ?? undefined
  }

  async setNote(name: string, value: string | null): Promise<void> {
    const notes = this.#name('deskwire_mirror')
    if (value === null) await this.#rowsOf(`delete from ${notes} where name = $1`, [name])
    else
      await this.#rowsOf(
        `insert into ${notes} (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
        [name, value],
      )
  }

  async notes(prefix: string): Promise<readonly string[]> {
    const sql = `select value from ${this.#name('deskwire_mirror')} where starts_with(name, $1) order by name`
    return (await this.#rowsOf(sql, [prefix])).map(([value]) => value ?? '')
  }

  async drift(table: Table): Promise<readonly Drift[] | undefined> {
    return driftOf(table, shownTypes, await this.#held(table.name))
  }

  async count({ name, marksRemovals }: Table): Promise<{ existing: number; removed: number }> {
    const removed = marksRemovals ? 'count(_removal)' : '0'
    const [row] = await this.#rowsOf(`select count(*), ${removed} from ${this.#name(name)}`, [])
    const [all = 0, of = 0] = (row ?? []).map(Number)
    return { existing: all - of, removed: of }
  }

  async span(table: Table): Promise<{ lowest: string; highest: string } | null> {
    const from = `from ${this.#name(table.name)}${existing(table, 'where')} order by id`
    const [row] = await this.#rowsOf(
      `select (select id ${from} limit 1), (select id ${from} desc limit 1)`,
      [],
    )
    const [lowest, highest] = row as [string | null, string | null]
    return lowest === null || highest === null ? null : { lowest, highest }
  }

  async *rows(table: Table, { after, before }: IdRange): AsyncGenerator<readonly StoredRow[]> {
    const where = `id > ${idLiteral(after)} and id <= ${idLiteral(before)}${existing(table, 'and')}`
    for await (const piece of this.#copied(`${this.#selected(table)} where ${where} order by id`))
      yield piece.map((values) => storedRow(table, values))
  }

  async *removed(table: Table, which: IdRange | readonly string[]): AsyncGenerator<readonly RemovedRow[]> {
    if (!table.marksRemovals) return
    const where =
      'after' in which
        ? `id > ${idLiteral(which.after)} and id <= ${idLiteral(which.before)}`
        : `id = any(array[${which.map(idLiteral).join(', ')}]::uuid[])`
    const selected = this.#selected(table, ['_removal'])
    const sql = `${selected} where ${where} and _removal is not null order by id`
    for await (const piece of this.#copied(sql)) {
      yield piece.map((values) => {
        const removal = values.pop() as string
        return { ...storedRow(table, values), removal }
      })
    }
  }

  async idsBeyond(table: Table, other: Table): Promise<readonly string[]> {
    const of = `from ${this.#name(other.name)} as other where other.id = held.id${existing(other, 'and', 'other')}`
    const sql = `select id from ${this.#name(table.name)} as held where not exists (select ${of})${existing(table, 'and', 'held')}`
    return (await this.#rowsOf(sql, [])).map(([id]) => id ?? '')
  }

  async *#copied(sql: string): AsyncGenerator<(string | null)[][]> {
    const stream = this.#client.query(copyTo(`copy (${sql}) to stdout`))
    const lines = copyLines(stream)
    try {
      for (;;) {
        const piece = await this.#guarded(() => lines.next())
        if (piece.done) return
        yield piece.value.map((line) => copyValues(line))
      }
    } finally {
      // The connection serves nothing else until the server has sent all of it.
      while (!(await lines.next()).done);
    }
  }

  async get(table: Table, ids: readonly string[]): Promise<readonly StoredRow[]> {
    const where = `where id = any($1::uuid[])${existing(table, 'and')}`
    const rows = await this.#rowsOf(`${this.#selected(table)} ${where}`, [ids])
    return rows.map((values) => storedRow(table, values))
  }

  #selected({ name, columns, marksRemovals }: Table, more: readonly string[] = []): string {
    const own = marksRemovals ? ['_body', 'removed_at'] : ['_body']
    const read = [...columns.map((column) => quoted(column.name)), ...own, ...more]
    return `select ${read.join(', ')} from ${this.#name(name)}`
  }

  async define(table: Table): Promise<void> {
    const name = this.#name(table.name)
    const own = removalColumns(table)
    const held = (await this.#held(table.name))?.columns
    if (held === undefined) {
      const columns = [
        ...table.columns.map(
          (column, n) => `${defined(column)}${n === 0 ? ' primary key' : column.required ? ' not null' : ''}`,
        ),
        '_body text not null',
        ...own.map(defined),
      ]
      await this.#run(`create table ${name} (${columns.join(', ')})`)
    } else {
      // A change that is not needed would also block readers until the end of the transaction.
      const demanding = new Set(await this.#demanding(table.name))
      for (const column of [...table.columns.slice(1), ...own]) {
        const is = held.get(column.name)
        const isOther = is !== undefined && is !== shownTypes[column.type]
        const [alter, it] = [`alter table ${name}`, quoted(column.name)]
        if (isOther) await this.#run(`${alter} drop column ${it}`)
        if (isOther || is === undefined) await this.#run(`${alter} add column ${defined(column)}`)
        else if (!('required' in column && column.required) && demanding.has(column.name))
          await this.#run(`${alter} alter column ${it} drop not null`)
      }
    }
    const comments = [
      `table ${name} is ${literal(table.comment)}`,
      ...table.columns.map((column) => `column ${name}.${quoted(column.name)} is ${literal(column.comment)}`),
      `column ${name}._body is 'The row as it is served, byte for byte.'`,
      ...own.map((column) => `column ${name}.${column.name} is ${literal(column.comment)}`),
    ]
    await this.#run(comments.map((comment) => `comment on ${comment}`).join(';'))
  }

  async index({ name, columns }: Table): Promise<void> {
    for (const column of columns) {
      const index = quoted(`${name}_${column.name}`)
      if (isIndexed(column))
        await this.#run(`create index if not exists ${index} on ${this.#name(name)} (${quoted(column.name)})`)
    }
    await this.#run(`analyze ${this.#name(name)}`)
  }

  async append({ name, columns }: Table, rows: Iterable<StoredRow>): Promise<void> {
    const into = [...columns.map((column) => quoted(column.name)), '_body'].join(', ')
    await this.#guarded(async () => {
      const stream = this.#client.query(copyFrom(`copy ${this.#name(name)} (${into}) from stdin`))
      const ended = new Promise<void>((resolve, reject) => {
        stream.once('finish', resolve)
        stream.once('error', reject)
      })
      // Handled below; until then nothing else listens.
      ended.catch(() => {})
      for (const piece of copyPieces(columns, rows)) {
        if (stream.errored !== null) break
        if (stream.write(piece)) continue
        await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), ended])
      }
      stream.end()
      await ended
    })
  }

  async put(table: Table, rows: readonly StoredRow[]): Promise<void> {
    if (rows.length === 0) return
    const columns = [
      // An array of arrays would become one: each list is a text until it has its row.
      ...table.columns.map(({ name, type }) => ({
        name: quoted(name),
        type: type === 'texts' ? 'text' : types[type],
        read: type === 'texts' ? `${quoted(name)}::text[]` : quoted(name),
      })),
      { name: '_body', type: 'text', read: '_body' },
    ]
    const names = columns.map(({ name }) => name).join(', ')
    const read = columns.map((column) => column.read).join(', ')
    const given = columns.map(({ type }, n) => `$${n + 1}::${type}[]`).join(', ')
    const set = columns.slice(1).map(({ name }) => `${name} = excluded.${name}`)
    set.push(...removalColumns(table).map((column) => `${column.name} = null`))
    const values = [
      ...table.columns.map(({ type }, n) =>
        rows.map(({ cells }) => (type === 'texts' ? arrayCell(cells[n] ?? null) : (cells[n] ?? null))),
      ),
      rows.map(({ text }) => text),
    ]
    const sql = `insert into ${this.#name(table.name)} (${names}) select ${read} from unnest(${given}) as given (${names})
        on conflict (id) do update set ${set.join(', ')}`
    await this.#rowsOf(sql, values)
  }

  async remove(table: Table, removals: readonly Removal[]): Promise<void> {
    if (removals.length === 0) return
    if (!table.marksRemovals)
      return await this.erase(
        table,
        removals.map(({ id }) => id),
      )
    const columns = (['id', 'removedAt', 'removal'] as const).map((name) => removals.map((one) => one[name]))
    await this.#rowsOf(
      `update ${this.#name(table.name)} as held set removed_at = gone.at, _removal = gone.removal
        from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as gone (id, at, removal)
        where held.id = gone.id and held._removal is null`,
      columns,
    )
  }

  async erase({ name }: Table, ids: readonly string[], by: VersionKey = 'id'): Promise<void> {
    if (ids.length > 0)
      await this.#rowsOf(`delete from ${this.#name(name)} where ${by} = any($1::uuid[])`, [ids])
  }

  async endVersions({ name }: Table, ends: readonly VersionEnd[], by: VersionKey): Promise<void> {
    if (ends.length > 0)
      await this.#rowsOf(
        `update ${this.#name(name)} as held set valid_to = greatest(ended.at, held.valid_from) from unnest($1::uuid[], $2::timestamptz[]) as ended (id, at)
          where held.${by} = ended.id and held.valid_to is null`,
        [ends.map(({ id }) => id), ends.map(({ at }) => at)],
      )
  }

  async replace(table: Table, by: Table, keeps = table.marksRemovals): Promise<void> {
    const [to, from] = [this.#name(table.name), this.#name(by.name)]
    if (!keeps)
      await this.#run(
        `delete from ${to} as held where not exists (select from ${from} as other where other.id = held.id)`,
      )
    const columns = [
      ...table.columns.map(({ name }) => quoted(name)),
      '_body',
      ...removalColumns(table).map(({ name }) => name),
    ]
    const all = (of: string) => `(${columns.map((name) => `${of}.${name}`).join(', ')})`
    await this.#run(
      `insert into ${to} as held (${columns.join(', ')}) select ${columns.join(', ')} from ${from}
        on conflict (id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
        where ${all('held')} is distinct from ${all('excluded')}`,
    )
  }

  async drop({ name }: Table): Promise<void> {
    await this.#run(`drop table if exists ${this.#name(name)}`)
  }
}

const defined = ({ name, type }: Pick<Column, 'name' | 'type'>) => `${quoted(name)} ${types[type]}`

/** What `relkind` means, if it is no table. */
function others(kind: string): string | undefined {
  if (['r', 'p'].includes(kind)) return undefined
  return { v: 'a view', m: 'a materialized view', f: 'a foreign table' }[kind] ?? 'something else'
}

/** COPY takes no parameters. */
function idLiteral(id: string): string {
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new TypeError(`an id is a UUID, not ${JSON.stringify(id)}`)
  return `'${id}'`
}

const existing = ({ marksRemovals }: Table, word: 'where' | 'and', of?: string) =>
  marksRemovals ? ` ${word} ${of === undefined ? '' : `${of}.`}_removal is null` : ''

function storedRow({ marksRemovals }: Table, values: (string | null)[]): StoredRow {
  const removed = marksRemovals ? { removedAt: values.pop() ?? null } : {}
  const text = values.pop() as string
  return { id: values[0] as string, text, cells: values, ...removed }
}

const listsOf = (columns: readonly Column[]) =>
  columns.flatMap(({ type }, n) => (type === 'texts' ? [n] : []))

const arrayCell = (cell: Cell) => (cell === null ? null : arrayText(readJson(cell as string)))

function* copyPieces(columns: readonly Column[], rows: Iterable<StoredRow>): Generator<string> {
  const lists = listsOf(columns)
  let piece = ''
  for (const { cells, text } of rows) {
    const values = [...cells, text]
    for (const n of lists) values[n] = arrayCell(values[n] ?? null)
    piece += `${copyLine(values)}\n`
    if (piece.length < charactersOfWrite) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** Whether a value of a row is refused: it cannot be stored, breaks a constraint, or exceeds a limit of the server. */
const isOfRow = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && /^(?:22|23|54)/.test(error.code ?? '')

/** Whether a retry may work: the server is gone, full or a standby, or a transaction gave way to another. */
function passes(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return !(error instanceof TypeError)
  return /^(?:08|25006|25P|40|53|55P|57|58)/.test(error.code ?? '')
}

/** What to do about an error, by the beginning of its code. */
const nexts = {
  '08P01': 'A pooler in statement mode keeps no transactions: set its pool_mode to transaction or session.',
  '25006':
    'The server is a standby, or default_transaction_read_only is on for it, the database or the role: connect to the primary, or turn it off.',
  '40001': 'Another transaction was in the way: run the command again.',
  '40P01': 'Another transaction was in the way: run the command again.',
  '42P10': 'A table that was adopted has no primary key: add it, on the column id.',
  '42501':
    'Grant the role create on the database, or make it the owner of the schema; its tables have to belong to the role.',
  '53100': "Make space on the server's disk.",
  '53300': 'Close other connections, or raise max_connections or the connection limit of the role.',
  '55P03':
    'Another session has locked tables of the copy, or another mirror writes to it: pg_stat_activity shows both. Wait for it, or end it.',
}

const nextOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? nexts[error.code as keyof typeof nexts] : undefined

/** `2026-01-31T09:30:00.100Z` → `2026-01-31 09:30:00.1+00`. */
function shownTime(time: string): string {
  const fraction = time[22] === '0' ? time.slice(19, 23).replace(/\.?0+$/, '') : time.slice(19, 23)
  return `${time.slice(0, 10)} ${time.slice(11, 19)}${fraction}+00`
}

/** Without an exponent from 0.0001 to below 10^15, with the shortest digits that mean this number. */
function shownNumber(value: number): string {
  const [digits = '', exponent = 0] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 15) return String(value)
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
