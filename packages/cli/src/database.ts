/** For commands that work on the database itself, beside a running service or without one. */
import {
  type Config,
  createLog,
  type Installation,
  migrateDatabase,
  openInstallation,
  readConfig,
} from '@deskwire/service/administration'
import { parseFlags } from './flags.ts'
import { UsageError } from './usage-error.ts'

type Database = Installation['databases'][number]
type Pool = Database['pool']

/** The settings that say where the database is, for the help of each such command. */
export const databaseHelp = `  --data-dir DIR         the embedded database's home (DESKWIRE_DATA_DIR, ./data)
  --database-url URL     a PostgreSQL to use instead (DESKWIRE_DATABASE_URL), or
  --databases FILE       several, by name (DESKWIRE_DATABASES)
`

/** The same for commands that work on one of several databases, whichever is named. */
export const oneDatabaseHelp = `  --database NAME        which of the databases of DESKWIRE_DATABASES
${databaseHelp}`

/** What the command line of such a command says. */
interface DatabaseCommand<F extends string, S extends string> {
  /** The command's own flags. */
  readonly given: Partial<Record<F, string>>
  /** Those of them that take no value. */
  readonly switches: Partial<Record<S, boolean>>
  /** Words that are no flags. */
  readonly words: readonly string[]
  readonly json: boolean
  readonly config: Config
  /**
   * The name of the one that is meant of several, of a command that has the flag `database`; null where none is
   * named.
   */
  readonly database: string | null
}

/**
 * Reads the flags and settings, and up to so many words. Nothing is opened yet, so that a command refuses a mistake
 * before it starts.
 */
export function readCommand<const F extends string, const S extends string = never>(
  args: readonly string[],
  own: readonly F[],
  most = 0,
  ownSwitches: readonly S[] = [],
): DatabaseCommand<F, S> {
  const { texts, switches, words } = parseFlags<F | 'data-dir' | 'database-url' | 'databases', S | 'json'>(
    args,
    {
      texts: [...own, 'data-dir', 'database-url', 'databases'],
      switches: [...ownSwitches, 'json'],
      words: most,
    },
  )
  const { 'data-dir': dataDir, 'database-url': databaseUrl, databases, ...given } = texts
  const environment = {
    ...process.env,
    ...(dataDir === undefined ? {} : { DESKWIRE_DATA_DIR: dataDir }),
    // The way past a pooler that the environment names leads to the database that the environment names.
    ...(databaseUrl === undefined
      ? {}
      : { DESKWIRE_DATABASE_URL: databaseUrl, DESKWIRE_DATABASE_DIRECT_URL: '', DESKWIRE_DATABASES: '' }),
    ...(databases === undefined
      ? {}
      : { DESKWIRE_DATABASES: databases, DESKWIRE_DATABASE_URL: '', DESKWIRE_DATABASE_DIRECT_URL: '' }),
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
    database: (given as { readonly database?: string }).database ?? null,
  }
}

/** The database that a command works on, and the installation that it is a part of. */
interface Work {
  readonly pool: Pool
  readonly database: Database
  readonly installation: Installation
}

type DatabaseFlags = Pick<DatabaseCommand<never, never>, 'config' | 'database'>

/**
 * Opens the databases that the settings name, and closes them when `work` is done. An embedded database that no
 * service runs just now is started for as long as that takes.
 */
export async function withInstallation(
  { config }: Pick<DatabaseFlags, 'config'>,
  work: (installation: Installation) => Promise<void>,
): Promise<void> {
  const installation = await openInstallation(config, commandLog())
  try {
    await work(installation)
  } finally {
    await installation.close()
  }
}

/** Of several databases the one that is named has to be. */
export function withDatabase(command: DatabaseFlags, work: (on: Work) => Promise<void>): Promise<void> {
  return withInstallation(command, (installation) => {
    const names = installation.databases.flatMap(({ name }) => name ?? [])
    if (command.database === null && names.length > 0)
      throw new UsageError(`--database must say which one is meant, of ${names.join(', ')}`)
    const [only] = installation.databases
    const database = command.database === null ? only : installation.named(command.database)
    return work({ pool: database.pool, database, installation })
  })
}

/** All databases, brought up to date, one after the other; or the one that is named. */
export function withEach(command: DatabaseFlags, work: (on: Work) => Promise<void>): Promise<void> {
  return withInstallation(command, async (installation) => {
    const databases =
      command.database === null ? installation.databases : [installation.named(command.database)]
    for (const database of databases) {
      await migrateDatabase(database)
      await work({ pool: database.pool, database, installation })
    }
  })
}

/**
 * The database that has the organization, brought up to date. @throws UsageError where there is no such organization.
 */
export function withDatabaseOf(
  command: Pick<DatabaseFlags, 'config'>,
  organizationId: string,
  work: (on: Work) => Promise<void>,
): Promise<void> {
  return withInstallation(command, async (installation) => {
    await migrateDatabase(installation.databases[0])
    const database = await installation.databaseOf(organizationId)
    if (database === null) throw new UsageError(`there is no organization ${organizationId}`)
    if (database !== installation.databases[0]) await migrateDatabase(database)
    await work({ pool: database.pool, database, installation })
  })
}

/** Whether the database is the one in the data directory. */
export function isEmbedded({ databaseUrl, databases }: Config): boolean {
  return databaseUrl === null && databases === null
}

/** Where such a command says what its user has to know: warnings alone. */
export function commandLog(): ReturnType<typeof createLog> {
  return createLog('warn')
}
