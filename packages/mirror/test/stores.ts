/** The stores that a mirror is tried with, each fresh, and plain SQL beside the mirror. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client, type ClientConfig } from 'pg'
import type { Store } from '../src/index.ts'
import { PostgresStore } from '../src/stores/postgres.ts'
import { SqliteStore } from '../src/stores/sqlite.ts'
import { type DuckDb, duckDb, duckDbStore } from './duckdb.ts'

export type Row = Record<string, unknown>

/** A place for a copy, which other connections can look into and change. */
export interface Place extends AsyncDisposable {
  /** By which another process finds it. */
  readonly address: Address
  /** Another store on the same place. */
  store(): Store
  /** Statements in the SQL that both databases have in common; tables need no schema. */
  sql(text: string): Promise<Row[]>
}

export type Address = { readonly file: string } | { readonly connection: ClientConfig }

/** A file is one of DuckDB or of SQLite by its ending. */
export function storeAt(address: Address): Store {
  if ('connection' in address) return new PostgresStore(address)
  return address.file.endsWith('.duckdb') ? duckDbStore(address.file) : new SqliteStore(address)
}

export const places = {
  SQLite: sqlitePlace,
  PostgreSQL: postgresPlace,
  ...(duckDb && { DuckDB: duckDbPlace }),
}

async function sqlitePlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))
  const file = join(directory, 'copy.db')
  return {
    address: { file },
    store: () => storeAt({ file }),
    async sql(text) {
      const database = new DatabaseSync(file)
      try {
        return database.prepare(text).all() as Row[]
      } finally {
        database.close()
      }
    },
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true })
    },
  }
}

async function duckDbPlace(): Promise<Place> {
  const { DuckDBInstance } = duckDb as DuckDb
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))
  const file = join(directory, 'copy.duckdb')
  return {
    address: { file },
    store: () => storeAt({ file }),
    async sql(text) {
      const instance = await DuckDBInstance.fromCache(file)
      const connection = await instance.connect()
      try {
        return (await connection.runAndReadAll(text)).getRowObjectsJS() as Row[]
      } finally {
        connection.closeSync()
        instance.closeSync()
      }
    },
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true })
    },
  }
}

async function postgresPlace(): Promise<Place> {
  // What runs outside of a test has no use for it.
  const { testDatabase } = await import('../../service/test/harness/database.ts')
  const database = await testDatabase({ template: null })
  const { connection } = database
  return {
    address: { connection },
    store: () => storeAt({ connection }),
    async sql(text) {
      const client = new Client({ ...connection, options: '-c search_path=deskwire' })
      await client.connect()
      try {
        return (await client.query(text)).rows
      } finally {
        await client.end()
      }
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
