/** The stores that a mirror is tried with, each fresh, and plain SQL beside the mirror. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client, type ClientConfig } from 'pg'
import type { Store } from '../src/index.ts'
import { PostgresStore } from '../src/stores/postgres.ts'
import { SqliteStore } from '../src/stores/sqlite.ts'
import { type DuckDb, duckDb, duckDbSettings, duckDbStore } from './duckdb.ts'

type Row = Record<string, unknown>

/** A place for a copy, which other connections can look into and change. */
export interface Place extends AsyncDisposable {
  /** By which another process finds it. */
  readonly address: Address
  /** Another store on the same place. */
  store(): Store
  /** Statements in the SQL that both databases have in common; tables need no schema. */
  sql(text: string): Promise<Row[]>
  /** Puts a table there that is no mirror's. */
  occupy(): Promise<unknown>
  /** What is there, to be compared with what was: tables, or the bytes of files. */
  look(): Promise<unknown>
}

export type Address =
  | { readonly file: string }
  | { readonly connection: ClientConfig; readonly schema?: string }

/** A file is one of DuckDB or of SQLite by its ending. */
export function storeAt(address: Address): Store {
  if ('connection' in address) return new PostgresStore(address)
  return address.file.endsWith('.duckdb') ? duckDbStore(address.file) : new SqliteStore(address)
}

/** Makes a place, which is gone when it is disposed of; that of PostgreSQL is a schema of this database. */
export const places = {
  SQLite: sqlitePlace,
  PostgreSQL: postgresPlace,
  ...(duckDb && { DuckDB: duckDbPlace }),
}

/** Puts a row there that no service has: like another one, but for its id and text. */
export async function plantRow(at: Place, table: string, id: string, like?: string): Promise<void> {
  const one = like === undefined ? '' : `where id = '${like}'`
  await at.sql(`create table planted as select * from ${table} ${one} limit 1`)
  await at.sql(`update planted set id = '${id}', _body = '{}'`)
  await at.sql(`insert into ${table} select * from planted`)
  await at.sql('drop table planted')
}

/** A file in a directory of its own, read and changed by this. */
function filePlace(name: string, sqlOf: (file: string) => Place['sql']): Place {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))
  const file = join(directory, name)
  const sql = sqlOf(file)
  return {
    address: { file },
    store: () => storeAt({ file }),
    sql,
    occupy: () => sql('create table mine (x integer)'),
    look: async () =>
      readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'base64')]),
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true })
    },
  }
}

async function sqlitePlace(): Promise<Place> {
  return filePlace('copy.db', (file) => async (text) => {
    const database = new DatabaseSync(file)
    try {
      return database.prepare(text).all() as Row[]
    } finally {
      database.close()
    }
  })
}

async function duckDbPlace(): Promise<Place> {
  const { DuckDBInstance } = duckDb as DuckDb
  return filePlace('copy.duckdb', (file) => async (text) => {
    const instance = await DuckDBInstance.fromCache(file, duckDbSettings)
    const connection = await instance.connect()
    try {
      return (await connection.runAndReadAll(text)).getRowObjectsJS() as Row[]
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
  })
}

async function postgresPlace(connection: ClientConfig): Promise<Place> {
  const schema = `copy_${randomUUID().replaceAll('-', '')}`
  const client = new Client({ ...connection, options: `-c search_path=${schema}` })
  await client.connect()
  const sql = async (text: string) => (await client.query(text)).rows
  return {
    address: { connection, schema },
    store: () => storeAt({ connection, schema }),
    sql,
    occupy: () => sql(`create schema ${schema}; create table mine (x integer)`),
    look: () =>
      sql(
        `select n.nspname, c.relname from pg_namespace n left join pg_class c on c.relnamespace = n.oid
          where n.nspname = '${schema}'`,
      ),
    async [Symbol.asyncDispose]() {
      await sql(`drop schema if exists ${schema} cascade`)
      await client.end()
    },
  }
}
