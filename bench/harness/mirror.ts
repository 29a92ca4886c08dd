/** Mirrors as processes, and the same rows loaded by the database's own means. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Installation, Organization } from './installation.ts'

export const stores = ['memory', 'SQLite', 'PostgreSQL', 'DuckDB'] as const
export const exports = ['NDJSON', 'Parquet'] as const

export interface MirrorOrder {
  readonly url: string
  readonly token: string
  readonly store: (typeof stores)[number] | (typeof exports)[number]
  /** Of SQLite and DuckDB; the directory of an export. */
  readonly file: string
  /** Of PostgreSQL. */
  readonly connection: { host: string; port: number; user: string; database: string }
}

export interface MirrorReport {
  /** Seconds to a verified copy or export. */
  readonly loaded: number
  /** Seconds of a verification of all rows. */
  readonly verified: number
  /** Peak memory of the process until then. */
  readonly megabytes: number
  /** The result of the verification; true for an export. */
  readonly isExact: boolean
}

const program = fileURLToPath(new URL('mirror-process.ts', import.meta.url))

/** Mirrors an organization into a new place, and leaves it there. */
export async function mirrorOnce(order: MirrorOrder): Promise<MirrorReport> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(order)])
  const report = JSON.parse(stdout) as MirrorReport
  if (!report.isExact) throw new Error(`the copy in ${order.store} is not exact`)
  return report
}

/** `remove` deletes the place. */
export async function newPlace(
  { service, connection, pool }: Installation,
  { token }: Organization,
  store: MirrorOrder['store'],
  directory: string,
): Promise<{ order: MirrorOrder; remove: () => Promise<void> }> {
  const name = `mirror_${Date.now()}`
  const file = `${directory}/${name}.db`
  if (store === 'PostgreSQL') await pool.query(`create database ${name}`)
  const order = { url: service.url, token, store, file, connection: { ...connection, database: name } }
  return {
    order,
    async remove() {
      if (store === 'PostgreSQL') await pool.query(`drop database ${name}`)
      for (const ending of ['', '-wal', '-shm', '.wal'])
        await rm(file + ending, { force: true, recursive: true })
    },
  }
}

/**
 * Seconds for loading the same formatted rows into a table with the same key: by one COPY, by a prepared statement a
 * row, or into a Map. An export has no such limit.
 */
export async function loadBare(order: MirrorOrder): Promise<number> {
  switch (order.store) {
    case 'memory':
    case 'NDJSON':
    case 'Parquet':
      return 0
    case 'SQLite':
      return loadSqlite(order)
    case 'PostgreSQL':
      return loadPostgres(order)
    case 'DuckDB':
      return loadDuckDb(order)
  }
}

const rowsOfPiece = 100_000

function loadSqlite({ file }: MirrorOrder): number {
  const database = new DatabaseSync(file)
  try {
    const { sql } = database.prepare("select sql from sqlite_master where name = 'customers'").get() as {
      sql: string
    }
    let spent = 0
    const timed = (work: () => void) => {
      const since = performance.now()
      work()
      spent += performance.now() - since
    }
    timed(() => database.exec(`${sql.replace('customers', 'bare')}; begin`))
    const rows = database.prepare('select * from customers where rowid > ? and rowid <= ?')
    rows.setReturnArrays(true)
    // In pieces, to save memory.
    for (let from = 0; ; from += rowsOfPiece) {
      const values = rows.all(from, from + rowsOfPiece) as unknown as string[][]
      if (values[0] === undefined) break
      const insert = database.prepare(`insert into bare values (${values[0].map(() => '?').join(', ')})`)
      timed(() => {
        for (const row of values) insert.run(...row)
      })
    }
    timed(() => database.exec('commit'))
    return spent / 1_000
  } finally {
    database.close()
  }
}

async function loadPostgres({ connection }: MirrorOrder): Promise<number> {
  const client = new Client(connection)
  await client.connect()
  try {
    const pieces: Buffer[] = []
    for await (const piece of client.query(copyTo('copy deskwire.customers to stdout'))) pieces.push(piece)
    await client.query('create table bare (like deskwire.customers including indexes)')
    const since = performance.now()
    await pipeline(Readable.from(pieces), client.query(copyFrom('copy bare from stdin')))
    return (performance.now() - since) / 1_000
  } finally {
    await client.end()
  }
}

async function loadDuckDb({ file }: MirrorOrder): Promise<number> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  const rows = `${file}.csv`
  try {
    await connection.run(`copy customers to '${rows}'`)
    await connection.run('create table bare as from customers limit 0')
    await connection.run('alter table bare add primary key (id)')
    const since = performance.now()
    await connection.run(`copy bare from '${rows}'`)
    return (performance.now() - since) / 1_000
  } finally {
    connection.closeSync()
    instance.closeSync()
    await rm(rows, { force: true })
  }
}
