/**
 * Prepares databases for this process: the schema of this release, the log's partitions, the encryption key. The only
 * database, or the one with the directory, must be available at a start. Others may become available later; until then
 * their organizations get 503, and their deliveries wait.
 */
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { readDatabaseClock } from '../db/clock.ts'
import { explainFailureOf } from '../db/failure.ts'
import { migrate } from '../db/migrate.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { requireSessions } from '../db/pooler.ts'
import type { EncryptionKeys } from '../delivery/endpoint/vault.ts'
import { atMost, periodic } from '../kernel/periodic.ts'
import { makeThisLogWeek, weeksText } from '../retention/log-weeks.ts'
import { schemaOf } from '../schema.ts'
import { requireKeyOfDatabase } from './delivery-settings.ts'

type KeySettings = Pick<Config, 'encryptionKey' | 'encryptionKeyPrevious' | 'dataDir'>

type Unprepared = Pick<OpenDatabase, 'name' | 'pool' | 'sessions' | 'address'>

/** @throws as pg does when it is unavailable; MigrationError, SettingError or PoolerError when it cannot be used. */
export async function prepare(
  { name, pool, sessions, address }: Unprepared,
  {
    config,
    keys,
    log,
  }: { readonly config: KeySettings; readonly keys: EncryptionKeys; readonly log: Logger },
): Promise<void> {
  // The only database was checked when it was opened.
  if (name !== null && 'url' in address) await requireSessions(address)
  const applied = await migrate(sessions, schemaOf())
  const of = name === null ? {} : { database: name }
  if (applied.length > 0) log.info({ ...of, migrations: applied }, 'the schema was brought up to date')
  // Before the first commit: rows of a week without a partition would have to be moved later.
  const missing = await makeThisLogWeek(pool, (await readDatabaseClock(pool)).now())
  if (missing.length > 0)
    log.warn(
      { ...of, missing: weeksText(missing) },
      'partitions of the log could not be made; maintenance tries again',
    )
  await requireKeyOfDatabase(pool, config, keys)
}

export interface ServedDatabase {
  readonly name: string | null
  readonly pool: Pool
  readonly address: DatabaseAddress
  readonly isReady: () => boolean
  /** Resolves when the database can be used; it may never resolve. */
  readonly ready: Promise<void>
}

export function served({ name, pool, address }: Omit<Unprepared, 'sessions'>): ServedDatabase {
  return { name, pool, address, isReady: () => true, ready: Promise.resolve() }
}

const tryEvery = 3_000
/** Milliseconds that a start waits for databases that may become available later. */
const startWaits = 30_000

/** Retries until each is ready. Resolves when each is ready or has failed once, at the latest after `startWaits`. */
export async function prepareLater(
  databases: readonly Unprepared[],
  log: Logger,
  how: (database: Unprepared) => Promise<void>,
): Promise<{ readonly served: readonly ServedDatabase[]; stop(): Promise<void> }> {
  const each = databases.map((database) => prepareUntilReady(database, log, how))
  await atMost(startWaits, Promise.all(each.map(({ tried }) => tried)))
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
  let reported = ''
  const trying = periodic({
    every: tryEvery,
    stopWithin: 0,
    async run() {
      await how(database)
      isReady = true
      trying.pause()
      if (reported !== '') log.info({ database: name }, 'the database can be used now')
      ready.resolve()
      tried.resolve()
    },
    onFailure(error) {
      tried.resolve()
      const reason = explainFailureOf(name ?? '', error) ?? error.message
      // Logged once, not with every try.
      if (reason !== reported)
        log.error(
          { database: name, reason },
          'a database cannot be used: its organizations wait; trying again',
        )
      reported = reason
    },
  })
  trying.start()
  const served: ServedDatabase = { name, pool, address, isReady: () => isReady, ready: ready.promise }
  return { database: served, tried: tried.promise, stop: () => trying.stop() }
}
