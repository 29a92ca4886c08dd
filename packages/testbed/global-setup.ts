/**
 * One PostgreSQL for the run, with one migrated template that every test's database is cloned from. A database or
 * connection that a test leaves behind fails the run.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { EmbeddedConnection, EmbeddedDatabase } from '@deskwire/embedded-postgres'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { ADMIN_ROLE } from '../embedded-postgres/src/settings.ts'
import { embedded } from '../service/src/db/embedded.ts'
import { migrate } from '../service/src/db/migrate.ts'
import { createPool } from '../service/src/db/pool.ts'
import { schemaOf } from '../service/src/schema.ts'
import { neverSent } from './answers.ts'
import { bundleCommandLine } from './bundle.ts'
import { scratchDirectory } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: EmbeddedConnection
    /** A data directory with an up-to-date, empty database, to be copied. */
    installed: string
    /** Where services store the responses that they have sent. */
    answers: string
    /** The run is the whole suite. */
    isSuite: boolean
  }
}

export const templateName = 'deskwire_template'
/** The name of workers' connections that make and drop databases, and end with their workers. */
export const administrator = 'testbed'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scratch = await scratchDirectory()
  // For temporary files of tests and of what they start.
  process.env.TMPDIR = scratch.path
  // Hundreds of processes load the same modules: each module is compiled once in a run.
  process.env.NODE_COMPILE_CACHE = await mkdtemp(join(scratch.path, 'compiled-'))
  await chmod(process.env.NODE_COMPILE_CACHE, 0o1777)
  const [database, , deskwire] = await Promise.all([
    startCopy(join(scratch.path, 'installed'), join(scratch.path, 'run')),
    // Builds the pages if their sources have changed.
    promisify(execFile)(process.execPath, [resolve(import.meta.dirname, '../../tools/build-pages.ts')]),
    mkdtemp(join(scratch.path, 'bundle-')).then(bundleCommandLine),
  ])
  process.env.TESTED_DESKWIRE = deskwire
  await surviveNothing(database.connection)
  const { database: migrated } = database.connection
  await administer(
    { ...database.connection, database: 'template1' },
    `create database ${templateName} template ${migrated}`,
  )
  // The first connection stores what each needs of the catalog: clones have that then, and their first ones need not
  // look.
  await administer({ ...database.connection, database: templateName }, 'select 1')
  project.provide('postgres', database.connection)
  project.provide('installed', join(scratch.path, 'installed'))
  const answers = await mkdtemp(join(scratch.path, 'answers-'))
  project.provide('answers', answers)

  return async () => {
    const left = await leftBehind(database.connection)
    await database.stop()
    const unsent = (await isWhole(project)) ? neverSent(answers) : []
    await scratch[Symbol.asyncDispose]()
    if (left.length > 0) throw new Error(`tests left behind: ${left.join(', ')}`)
    if (unsent.length > 0) throw new Error(`declared, and sent in no test: ${unsent.join(', ')}`)
  }
}

/** Creates a data directory with the schema, and starts the database on a copy of it. */
async function startCopy(installed: string, copy: string): Promise<EmbeddedDatabase> {
  const log = () => {}
  const made = await embedded.start({ dataDir: installed, log })
  const pool = createPool(made.connection, { max: 1, onIdleError: log })
  await migrate(pool, schemaOf())
  await pool.end()
  await made.stop()
  await promisify(execFile)('cp', ['-Rp', installed, copy])
  return embedded.start({ dataDir: copy, log })
}

/**
 * Nothing has to survive a power cut: writing each file to disk took three quarters of the time of cloning a database.
 */
async function surviveNothing(connection: EmbeddedConnection): Promise<void> {
  const owner = { ...connection, user: ADMIN_ROLE }
  await administer(owner, 'alter system set fsync = off')
  await administer(owner, 'alter system set full_page_writes = off')
  // Autovacuum would start processes for each database, and hold what tests count.
  await administer(owner, 'alter system set autovacuum = off')
  await administer(owner, 'select pg_reload_conf()')
}

/** Every file of the suite ran and passed: only then all responses have been seen. */
async function isWhole(project: TestProject): Promise<boolean> {
  const { state, config } = project.vitest
  if (
    config.provide.isSuite !== true ||
    config.testNamePattern !== undefined ||
    state.getCountOfFailedTests() > 0
  )
    return false
  const { testFiles } = await project.globTestFiles()
  return state.getFiles().length >= testFiles.length
}

async function administer(connection: EmbeddedConnection, statement: string): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  await client.query(statement)
  await client.end()
}

async function leftBehind(connection: EmbeddedConnection): Promise<string[]> {
  const client = new Client(connection)
  await client.connect()
  const { rows } = await client.query<{ what: string }>(
    `select 'database ' || datname as what from pg_database where datname like 'test\\_%'
     union all
     select 'connection ' || coalesce(application_name, '') || ' to ' || datname from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> $1`,
    [administrator],
  )
  await client.end()
  return rows.map(({ what }) => what)
}
