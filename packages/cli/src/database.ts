/** For commands that work on the database itself, beside a running service or without one. */
import { type Config, openDatabaseBeside, readConfig } from '@deskwire/service'
import type { Logger } from 'pino'
import pino from 'pino'
import { parseFlags } from './flags.ts'
import { UsageError } from './usage-error.ts'

type Pool = Awaited<ReturnType<typeof openDatabaseBeside>>['pool']

/** The two settings that say where the database is, for the help of each such command. */
export const databaseHelp = `  --data-dir DIR         the embedded database's home (DESKWIRE_DATA_DIR, ./data)
  --database-url URL     a PostgreSQL to use instead (DESKWIRE_DATABASE_URL)
`

/** What the command line of such a command says. */
export interface DatabaseCommand<F extends string> {
  /** The command's own flags. */
  readonly given: Partial<Record<F, string>>
  readonly json: boolean
  readonly config: Config
}

/** Reads the flags and settings. Nothing is opened yet, so that a command refuses a mistake before it starts. */
export function readCommand<const F extends string>(
  args: readonly string[],
  own: readonly F[],
): DatabaseCommand<F> {
  const accepted = { texts: [...own, 'data-dir', 'database-url'], switches: ['json'] } as const
  const { texts, switches } = parseFlags<F | 'data-dir' | 'database-url', 'json'>(args, accepted)
  const { 'data-dir': dataDir, 'database-url': databaseUrl, ...given } = texts
  const environment = {
    ...process.env,
    ...(dataDir === undefined ? {} : { DESKWIRE_DATA_DIR: dataDir }),
    ...(databaseUrl === undefined ? {} : { DESKWIRE_DATABASE_URL: databaseUrl }),
  }
  const config = readConfig(environment)
  if (!config.ok) throw new UsageError(config.error)
  return { given: given as Partial<Record<F, string>>, json: switches.json === true, config: config.value }
}

/**
 * Opens the database that the settings name, and closes it when `work` is done. An embedded database that no
 * service runs just now is started for as long as that takes.
 */
export async function withDatabase(config: Config, work: (pool: Pool) => Promise<void>): Promise<void> {
  const log: Logger = pino({ level: 'warn', base: null }, pino.destination({ dest: 2, sync: true }))
  const database = await openDatabaseBeside(config, log)
  try {
    await work(database.pool)
  } finally {
    await database.close()
  }
}
