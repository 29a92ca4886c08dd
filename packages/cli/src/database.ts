/** For commands that work on the database itself, beside a running service or without one. */
import { type Config, openDatabaseBeside, readConfig } from '@deskwire/service/administration'
import type { Logger } from 'pino'
import pino from 'pino'
import { parseFlags } from './flags.ts'
import { UsageError } from './usage-error.ts'

type Pool = Awaited<ReturnType<typeof openDatabaseBeside>>['pool']

/** The settings that say where the database is, for the help of each such command. */
export const databaseHelp = `  --data-dir DIR         the embedded database's home (DESKWIRE_DATA_DIR, ./data)
  --database-url URL     a PostgreSQL to use instead (DESKWIRE_DATABASE_URL)
`

/** What the command line of such a command says. */
export interface DatabaseCommand<F extends string, S extends string> {
  /** The command's own flags. */
  readonly given: Partial<Record<F, string>>
  /** Those of them that take no value. */
  readonly switches: Partial<Record<S, boolean>>
  /** Words that are no flags. */
  readonly words: readonly string[]
  readonly json: boolean
  readonly config: Config
}

/**
 * Reads the flags and settings, and up to so many words. Nothing is opened yet, so that a command refuses a mistake before
 * it starts.
 */
export function readCommand<const F extends string, const S extends string = never>(
  args: readonly string[],
  own: readonly F[],
  most = 0,
  ownSwitches: readonly S[] = [],
): DatabaseCommand<F, S> {
  const { texts, switches, words } = parseFlags<F | 'data-dir' | 'database-url', S | 'json'>(args, {
    texts: [...own, 'data-dir', 'database-url'],
    switches: [...ownSwitches, 'json'],
    words: most,
  })
  const { 'data-dir': dataDir, 'database-url': databaseUrl, ...given } = texts
  const environment = {
    ...process.env,
    ...(dataDir === undefined ? {} : { DESKWIRE_DATA_DIR: dataDir }),
    // The way past a pooler that the environment names leads to the database that the environment names.
    ...(databaseUrl === undefined
      ? {}
      : { DESKWIRE_DATABASE_URL: databaseUrl, DESKWIRE_DATABASE_DIRECT_URL: '' }),
  }
  const config = readConfig(environment)
  if (!config.ok) throw new UsageError(config.error)
  const { json, ...others } = switches
  return {
    given: given as Partial<Record<F, string>>,
    switches: others as Partial<Record<S, boolean>>,
    words,
    json: json === true,
    config: config.value,
  }
}

/**
 * Opens the database that the settings name, and closes it when `work` is done. An embedded database that no
 * service runs just now is started for as long as that takes.
 */
export async function withDatabase(config: Config, work: (pool: Pool) => Promise<void>): Promise<void> {
  const database = await openDatabaseBeside(config, commandLog())
  try {
    await work(database.pool)
  } finally {
    await database.close()
  }
}

/** Where such a command says what its user has to know: warnings alone. */
export function commandLog(): Logger {
  return pino({ level: 'warn', base: null }, pino.destination({ dest: 2, sync: true }))
}
