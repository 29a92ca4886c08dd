import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { hashToken } from './auth/token.ts'
import { createDirectory } from './databases/directory.ts'
import { type NamedPool, type Settled, settleDirectory } from './databases/settle.ts'
import { DatabasesError, databasesSetting } from './db/databases.ts'
import { explainFailureOf } from './db/failure.ts'
import { migrate } from './db/migrate.ts'
import { isServedHere } from './db/not-served.ts'
import {
  type DatabaseSettings,
  namedDatabases,
  type OpenDatabase,
  openDatabaseBeside,
  openServer,
} from './db/open.ts'
import type { Everywhere, Member } from './moves/everywhere.ts'
import type { NewKey } from './organization/create.ts'
import { schemaOf } from './schema.ts'

/** A database of the installation cannot be used; the message says which, and what to do. */
export class InstallationError extends Error {}

export type Installation = Awaited<ReturnType<typeof openInstallation>>

/**
 * Opens all databases of the settings, without poolers. Several are not queried yet. @throws DatabasesError,
 * PoolerError
 */
export async function openInstallation(config: DatabaseSettings, log: FastifyBaseLogger) {
  const databases = await openAll(config, log)
  const [first, ...others] = databases
  const everyOrganization = createDirectory(first.pool, first.name ?? '')
  const directory = databases.length === 1 ? null : everyOrganization
  const named = (name: string) => {
    const found = databases.find((database) => database.name === name)
    if (found !== undefined) return found
    const names = databases.flatMap((database) => database.name ?? []).join(', ')
    throw new DatabasesError(`${databasesSetting} names no database ${name}: it has ${names || 'none'}`)
  }
  /** Operations on an organization in every database that has rows of it. */
  const everywhere: Everywhere = {
    databases: [memberOf(first), ...others.map(memberOf)],
    directory: everyOrganization,
  }
  return {
    /** First the one with the directory. The only database has no name. */
    databases,
    directory,
    everywhere,
    named,
    /** Null when no database has it. @throws DatabasesError when it is not among these. */
    async databaseOf(organizationId: string): Promise<OpenDatabase | null> {
      const placement = await everyOrganization.databaseOf(organizationId)
      if (placement === null) return null
      return placement.database === (first.name ?? '') ? first : named(placement.database)
    },
    /** Records an organization, or a key of one, in the directory before it is created in this database. */
    recorderOf:
      (database: OpenDatabase, made: 'organization' | 'key') =>
      async ({ organizationId, token }: NewKey): Promise<void> => {
        if (directory === null || database === first) return
        if (made === 'organization') await directory.place(organizationId, database.name ?? '')
        await directory.note(organizationId, [Buffer.from(hashToken(token), 'hex')])
      },
    /**
     * Reconciles the directory with this database, or with all if this one has the directory; null with one database.
     */
    async settle(database: OpenDatabase): Promise<Settled | null> {
      if (directory === null) return null
      const settled = { organizations: 0, moved: 0, tokens: 0, taken: 0 }
      for (const each of database === first ? others : [database]) {
        await migrateDatabase(each)
        const one = await settleDirectory(namedPool(first), namedPool(each))
        settled.organizations += one.organizations
        settled.moved += one.moved
        settled.tokens += one.tokens
        settled.taken += one.taken
      }
      return settled
    },
    close: async (): Promise<void> => void (await Promise.all(databases.map((database) => database.close()))),
  }
}

function memberOf(database: OpenDatabase): Member {
  const { name, pool, sessions } = database
  return { name, pool, prepare: () => migrateOnce(sessions) }
}

const migrated = new WeakSet<Pool>()

/** A process checks a database once. Returns the applied migrations. */
async function migrateOnce(sessions: Pool): Promise<readonly string[]> {
  if (migrated.has(sessions)) return []
  const applied = await migrate(sessions, schemaOf())
  migrated.add(sessions)
  return applied
}

function namedPool({ name, pool }: OpenDatabase): NamedPool {
  return { name: name ?? '', pool }
}

async function openAll(
  config: DatabaseSettings,
  log: FastifyBaseLogger,
): Promise<readonly [OpenDatabase, ...OpenDatabase[]]> {
  const named = await namedDatabases(config)
  if (named === null) return [await openDatabaseBeside(config, log)]
  const opened: OpenDatabase[] = []
  for (const { name, url, directUrl } of named)
    opened.push(openServer(name, { url: directUrl ?? url, directUrl: undefined }, log))
  const [first, ...others] = opened
  if (first === undefined) throw new DatabasesError(`${databasesSetting}: no database is named`)
  return [first, ...others]
}

/** Returns the applied migrations. @throws InstallationError, or as `migrate` does. */
export async function migrateDatabase({ name, sessions }: OpenDatabase): Promise<readonly string[]> {
  try {
    return await migrateOnce(sessions)
  } catch (error) {
    const line = name === null ? null : explainFailureOf(name, error)
    throw line === null ? error : new InstallationError(line, { cause: error })
  }
}

/** The available database with the fewest rows; among equals, with the fewest organizations. */
export async function leastFull(databases: readonly OpenDatabase[]): Promise<OpenDatabase> {
  const measured = await Promise.allSettled(
    databases.map(async (database) => {
      await migrateDatabase(database)
      const { rows } = await database.pool.query<{ rows: number; organizations: number }>(
        `select (select coalesce(sum(c.live_count), 0)::float8 from kind_counters c) as rows,
           (select count(*)::int from organizations o where ${isServedHere('o')}) as organizations`,
      )
      return { rows: 0, organizations: 0, ...rows[0], database }
    }),
  )
  const [best] = measured
    .flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    .sort((a, b) => a.rows - b.rows || a.organizations - b.organizations)
  if (best !== undefined) return best.database
  const failed = measured.find((one) => one.status === 'rejected')
  throw failed?.reason ?? new InstallationError('no database answers')
}
