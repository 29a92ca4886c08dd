/** A test's own database, cloned from the migrated template and dropped at the end. */
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { inject } from 'vitest'
import { connections } from '../service/src/db/open.ts'
import { createPool } from '../service/src/db/pool.ts'
import { administrator, templateName } from './global-setup.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly pool: Pool
  readonly name: string
  /** For connections of the test's own. */
  readonly connection: { host: string; port: number; user: string; database: string }
}

/** `await using database = await testDatabase()`. With `template: null` it is empty. */
export async function testDatabase(
  options: { readonly template?: string | null; readonly max?: number } = {},
): Promise<TestDatabase> {
  const postgres = inject('postgres')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const { template = templateName, max = connections } = options
  // PostgreSQL's default, through the write-ahead log, takes ten times as long.
  await administer(
    `create database ${name}${template === null ? '' : ` template ${template}`} strategy file_copy`,
  )
  const connection = { ...postgres, database: name }
  const pool = createPool(connection, { max, onIdleError: () => {} })
  return {
    pool,
    name,
    connection,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await administer(`drop database ${name}`)
    },
  }
}

/**
 * One connection for all files of a worker: a new one for each statement took half the time of making and dropping a
 * database.
 */
let administration: Pool | undefined

async function administer(statement: string): Promise<void> {
  administration ??= new Pool({
    ...inject('postgres'),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    application_name: administrator,
  }).on('error', () => {})
  await administration.query(statement)
}
