/** The stores that a mirror is tried with, each fresh, and plain SQL beside the mirror. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { testDatabase } from '../../service/test/harness/database.ts'
import type { Store } from '../src/index.ts'
import { PostgresStore } from '../src/stores/postgres.ts'
import { SqliteStore } from '../src/stores/sqlite.ts'

export type Row = Record<string, unknown>

/** A place for a copy, which other connections can look into and change. */
export interface Place extends AsyncDisposable {
  /** Another store on the same place. */
  store(): Store
  /** Statements in the SQL that both databases have in common; tables need no schema. */
  sql(text: string): Promise<Row[]>
}

export const places = { SQLite: sqlitePlace, PostgreSQL: postgresPlace } as const

async function sqlitePlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))
  const file = join(directory, 'copy.db')
  return {
    store: () => new SqliteStore({ file }),
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

async function postgresPlace(): Promise<Place> {
  const database = await testDatabase({ template: null })
  const { connection } = database
  return {
    store: () => new PostgresStore({ connection }),
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
