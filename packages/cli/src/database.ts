/** For commands that work on the database itself, beside a running service or without one. */
import { parseArgs } from 'node:util'
import { openDatabaseBeside, readConfig } from '@deskwire/service'
import type { Logger } from 'pino'
import pino from 'pino'
import { UsageError } from './usage-error.ts'

type Pool = Awaited<ReturnType<typeof openDatabaseBeside>>['pool']

/** The two settings that say where the database is, for the help of each such command. */
export const databaseHelp = `  --data-dir DIR         the embedded database's home (DESKWIRE_DATA_DIR, ./data)
  --database-url URL     a PostgreSQL to use instead (DESKWIRE_DATABASE_URL)
`

/**
 * Parses the command's own string flags, opens the database that flags or environment name, and closes it when
 * `work` is done. An embedded database that no service runs just now is started for as long as that takes.
 */
export async function withDatabase<const F extends string>(
  args: readonly string[],
  own: readonly F[],
  work: (pool: Pool, given: Partial<Record<F, string>>, json: boolean) => Promise<void>,
): Promise<void> {
  const { 'data-dir': dataDir, 'database-url': databaseUrl, json, ...given } = parse(args, own)
  const environment = {
    ...process.env,
    ...(dataDir === undefined ? {} : { DESKWIRE_DATA_DIR: String(dataDir) }),
    ...(databaseUrl === undefined ? {} : { DESKWIRE_DATABASE_URL: String(databaseUrl) }),
  }
  const config = readConfig(environment)
  if (!config.ok) throw new UsageError(config.error)
  const log: Logger = pino({ level: 'warn', base: null }, pino.destination({ dest: 2, sync: true }))
  const database = await openDatabaseBeside(config.value, log)
  try {
    await work(database.pool, given as Partial<Record<F, string>>, json === true)
  } finally {
    await database.close()
  }
}

function parse(
  args: readonly string[],
  own: readonly string[],
): Record<string, string | boolean | undefined> {
  const names = [...own, 'data-dir', 'database-url']
  const options = {
    json: { type: 'boolean' as const },
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  }
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    const accepted = [...names, 'json'].map((name) => `--${name}`).join(', ')
    throw new UsageError(`${(error as Error).message.split('. ')[0]}; accepted: ${accepted}`)
  }
}
