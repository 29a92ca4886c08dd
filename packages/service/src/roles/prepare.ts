/**
 * Bringing databases to where this process can use them: the schema of this release, the log's weeks, the encryption key. The only
 * database, or the directory's, has to be there for a start; any other may come later, and until then its organizations alone are
 * answered 503 and wait for their deliveries.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { askDatabaseClock } from '../db/clock.ts'
import { explainFailureOf } from '../db/failure.ts'
import { migrate } from '../db/migrate.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { requireSessions } from '../db/pooler.ts'
import { periodic } from '../kernel/periodic.ts'
import { makeThisLogWeek, weeksText } from '../retention/log-weeks.ts'
import { schemaOf } from '../schema.ts'
import type { EncryptionKeys } from '../webhooks/vault.ts'
import { requireKeyOfDatabase } from './delivery-settings.ts'

/** What a process needs to know of its own keys, and of where they come from. */
type KeySettings = Pick<Config, 'encryptionKey' | 'encryptionKeyPrevious' | 'dataDir'>

/** A database with what can be asked of it without a schema. */
type Unprepared = Pick<OpenDatabase, 'name' | 'pool' | 'sessions' | 'address'>

/** @throws as pg does when it cannot be reached; MigrationError, SettingError or PoolerError when it cannot be used. */
export async function prepare(
  { name, pool, sessions, address }: Unprepared,
  {
    config,
    keys,
    log,
  }: { readonly config: KeySettings; readonly keys: EncryptionKeys; readonly log: Logger },
): Promise<void> {
  // One that is alone was looked at when it was opened.
  if (name !== null && 'url' in address) await requireSessions(address)
  const applied = await migrate(sessions, schemaOf())
  const of = name === null ? {} : { database: name }
  if (applied.length > 0) log.info({ ...of, migrations: applied }, 'the schema was brought up to date')
  // Before the first commit: a week that has begun without a partition has rows to be taken over.
  const missing = await makeThisLogWeek(pool, (await askDatabaseClock(pool)).now())
  if (missing.length > 0)
    log.warn(
      { ...of, missing: weeksText(missing) },
      'partitions of the log could not be made; maintenance tries again',
    )
  await requireKeyOfDatabase(pool, config, keys)
}

/** One of the databases of a process. */
export interface ServedDatabase {
  /** Null of one that is alone. */
  readonly name: string | null
  readonly pool: Pool
  readonly address: DatabaseAddress
  readonly isReady: () => boolean
  /** Resolves when it can be used, which may be never. */
  readonly ready: Promise<void>
}

/** One that can be used already. */
export function served({ name, pool, address }: Omit<Unprepared, 'sessions'>): ServedDatabase {
  return { name, pool, address, isReady: () => true, ready: Promise.resolve() }
}

/** How long after a try the next one is made, in milliseconds. */
const tryEvery = 3_000
/** How long a start waits for databases that may come later, in milliseconds. */
const startWaits = 30_000

/**
 * Prepares these databases, again and again until each can be used. Resolves when all can, or have failed once, or some let themselves
 * be waited for.
 */
export async function prepareLater(
  databases: readonly Unprepared[],
  log: Logger,
  how: (database: Unprepared) => Promise<void>,
): Promise<{ readonly served: readonly ServedDatabase[]; stop(): Promise<void> }> {
  const each = databases.map((database) => prepareUntilReady(database, log, how))
  const late = new AbortController()
  const waited = delay(startWaits, undefined, { signal: late.signal }).catch(() => {})
  await Promise.race([Promise.all(each.map(({ tried }) => tried)), waited])
  late.abort()
  return {
    served: each.map((one) => one.database),
    stop: async () => void (await Promise.all(each.map((one) => one.stop()))),
  }
}

function prepareUntilReady(database: Unprepared, log: Logger, how: (database: Unprepared) => Promise<void>) {
  const { name, pool, address } = database
  const tried = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  let isReady = false
  let told = ''
  const trying = periodic({
    every: tryEvery,
    stopWithin: 0,
    async run() {
      await how(database)
      isReady = true
      trying.pause()
      if (told !== '') log.info({ database: name }, 'the database can be used now')
      ready.resolve()
      tried.resolve()
    },
    onFailure(error) {
      tried.resolve()
      const reason = explainFailureOf(name ?? '', error) ?? error.message
      // Once, and not with every try.
      if (reason !== told)
        log.error(
          { database: name, reason },
          'a database cannot be used: its organizations wait; trying again',
        )
      told = reason
    },
  })
  trying.start()
  const served: ServedDatabase = { name, pool, address, isReady: () => isReady, ready: ready.promise }
  return { database: served, tried: tried.promise, stop: () => trying.stop() }
}
