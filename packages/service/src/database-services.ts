/**
 * The services of one database: journal, readers, and those of all routes. `app.ts` combines the databases of a
 * process.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { createLookUp, createUseRecorder } from './auth/authenticator.ts'
import { scopeNames } from './auth/scopes.ts'
import type { Directory } from './databases/directory.ts'
import { createDirectorySweep } from './databases/settle.ts'
import { type Database, FairPool, unshared } from './db/fair-pool.ts'
import { observePools, observeStatements } from './db/observe-statements.ts'
import { createPing } from './db/pool.ts'
import { createVault, keysOf, readNamedKeys } from './delivery/endpoint/vault.ts'
import { attemptsOf, type DeliverySettings } from './delivery/model.ts'
import type { Resolver } from './delivery/send/resolver.ts'
import { type BoundRoutes, bindRoutes } from './http/route.ts'
import { createIdempotencyStore } from './idempotency/stored-responses.ts'
import { inboxApi } from './inbox/routes.ts'
import type { StorageLimits } from './journal/change.ts'
import { createFeed } from './journal/feed.ts'
import { createJournal, type Journal } from './journal/journal.ts'
import { createNotifier, type NotifyWorker } from './journal/notifier.ts'
import { createRangeDigestReader } from './journal/range-digests.ts'
import { createRowReader } from './journal/rows.ts'
import {
  createReadClocks,
  createWaitingReaders,
  type ReaderLimits,
  type WaitingReaders,
} from './journal/waiting-readers.ts'
import { loggable } from './kernel/log.ts'
import { createKeyedQueue } from './kernel/shared-work.ts'
import { processLabel, type Telemetry } from './kernel/telemetry.ts'
import type { Clock } from './kernel/timestamps.ts'
import { consoleLinkApi } from './keys/console-link-routes.ts'
import { createConsoleLinks, createKeySessions } from './keys/console-links.ts'
import { createKeys } from './keys/keys.ts'
import { keyApi } from './keys/routes.ts'
import { forgetRevoked, revokedKept } from './keys/store.ts'
import { createBatch } from './kinds/http/batch.ts'
import { createBrowse } from './kinds/http/browse.ts'
import { kindApi } from './kinds/http/routes.ts'
import { joinedFeeds, streamApi } from './kinds/http/stream-routes.ts'
import { outdatedRows } from './kinds/model/backfill.ts'
import { createChanges } from './kinds/model/changes.ts'
import { namedReferences } from './kinds/model/imports.ts'
import type { Kind } from './kinds/model/kind.ts'
import type { Rows } from './kinds/model/units.ts'
import {
  createBacklogMetrics,
  createConnectionMetrics,
  createLogMetrics,
  createMaintenanceMetrics,
  createOutdatedMetrics,
  createPoolMetrics,
  createStorageMetrics,
} from './metrics/database.ts'
import { gauge } from './metrics/registry.ts'
import { createCommitMetrics } from './metrics/requests.ts'
import { createOrganizations } from './organization/organization.ts'
import { organizationApi } from './organization/routes.ts'
import { erasePayloads } from './retention/erasure.ts'
import { missingLogWeeks } from './retention/log-weeks.ts'
import { createMaintenance, largestStores, storesRanked } from './retention/maintenance.ts'
import { schemaOf } from './schema.ts'
import { webhookRoutes } from './webhook-routes.ts'

export interface DatabaseHandle {
  /** Its name in DESKWIRE_DATABASES; null when it is the only one. */
  readonly name: string | null
  readonly pool: Pool
  readonly clock: Clock
  /** Notifies the worker of this process of due queues; null: the database notifies workers. */
  readonly notifyWorker: NotifyWorker | null
  /** Whether it has this release's schema, and this process's encryption key. */
  readonly isReady: () => boolean
}

export interface SharedOptions {
  readonly log: FastifyBaseLogger
  readonly settings: DeliverySettings
  readonly searchTimeout: number
  readonly storage?: StorageLimits
  readonly kinds: readonly Kind[]
  /** Milliseconds that a clock may be ahead of its database's. Default: no limit, as tests move the clock. */
  readonly maxClockSkew?: number
  readonly readers?: Partial<ReaderLimits>
  /** The offload thread shares no connections between organizations, and runs no maintenance. */
  readonly role: 'api' | 'offload'
  readonly telemetry: Telemetry | null
  readonly resolver: Resolver
}

/** The directory, for a database that does not have it itself. */
type DirectoryElsewhere = Pick<Directory, 'note' | 'noteBeside' | 'forgetTokens'> & {
  readonly pool: Pool
}

export type DatabaseServices = ReturnType<typeof createDatabaseServices>

/**
 * `register` gets its metrics. Tokens are recorded in `directory` before they are created; null for the directory's
 * database.
 */
export function createDatabaseServices(
  { name, pool, clock, notifyWorker, isReady }: DatabaseHandle,
  options: SharedOptions,
  register: Registry,
  directory: DirectoryElsewhere | null,
) {
  const { log, settings, kinds, maxClockSkew, storage, role, telemetry } = options
  const of = name === null ? {} : { database: name }
  const notifier = createNotifier(
    pool,
    (error) => log.warn({ ...of, err: loggable(error) }, 'workers and waiting readers could not be notified'),
    notifyWorker,
  )
  // The main thread has admitted the work of the offload thread already.
  const database = role === 'offload' ? unshared(pool) : sharedBy(pool, register, telemetry)
  createConnectionMetrics(register, { [processLabel(role)]: pool })
  if (telemetry !== null) {
    observePools(telemetry, { [processLabel(role)]: pool })
    telemetry.publish(register)
  }
  const vault = createVault(keysOf(settings), async () => (await readNamedKeys(pool)).current)
  const { callUnderClock, pending, idle, ...journal } = createJournal({
    pool,
    database,
    clock,
    tables: kinds.map((kind) => kind.table),
    commitFunction: schemaOf(kinds).commitFunction,
    maxAttempts: attemptsOf(settings.schedule),
    notifier,
    onCommit: createCommitMetrics(register, (clockSkew) =>
      log.warn(
        { ...of, seconds: Math.round(clockSkew / 1000) },
        "the stream's clock is ahead of the database's",
      ),
    ),
    ...(maxClockSkew === undefined ? {} : { maxClockSkew }),
    ...(storage && { storage }),
    tracer: telemetry?.tracer ?? null,
  })
  const answers = createPing(pool, clock)
  if (role === 'api') {
    gauge(register, 'deskwire_database_answers', async (it) => it.set(isReady() && (await answers()) ? 1 : 0))
    createBacklogMetrics(register, pool, clock)
    createStorageMetrics(register, clock, { ranks: storesRanked, read: () => largestStores(pool) })
    createLogMetrics(register, clock, async () => (await missingLogWeeks(pool, clock.now())).length)
    createOutdatedMetrics(register, clock, () => outdatedRows(pool, kinds))
  }
  const desk = kindRoutes({
    pool,
    database,
    clock,
    kinds,
    journal,
    searchTimeout: options.searchTimeout,
    ...(options.readers && { readers: options.readers }),
    erasePayloads: (organizationId) => erasePayloads(pool, clock, organizationId),
  })
  const services = { database, clock, callUnderClock, vault, wake: notifier.deliveries, kinds }
  const scopes = scopeNames(kinds)
  const seal = (answer: string, organizationId: string, id: string) =>
    vault.seal(answer, { organizationId, webhookId: id })
  const keys = createKeys({ ...services, scopes, seal, directory })
  const links = createConsoleLinks({ ...services, scopes, seal, directory })
  const webhooks = webhookRoutes({ ...services, settings, resolver: options.resolver, readers: desk.readers })
  const sweep =
    directory === null || name === null ? null : createDirectorySweep(directory.pool, { name, pool })
  return {
    name,
    parts: [
      ...desk.parts,
      bindRoutes(() => inboxApi.routes, { database, clock, timeout: options.searchTimeout }),
      ...webhooks.parts,
      bindRoutes(() => keyApi(scopes).routes, { keys, database, clock }),
      bindRoutes(() => consoleLinkApi(scopes).routes, { links }),
      bindRoutes(() => organizationApi.routes, createOrganizations(database, clock)),
    ],
    idempotency: createIdempotencyStore(
      { database, callUnderClock, maxBytes: storage?.bytes ?? null },
      clock,
      (sealed, organizationId, webhookId) => vault.open(sealed, { organizationId, webhookId }),
    ),
    /** Waiting readers of the stream; `startStreamListener` notifies them of commits. */
    readers: desk.readers,
    maintenance: createMaintenance({
      pool,
      clock,
      log: name === null ? log : log.child(of),
      logRetention: settings.logRetention,
      ...(storage && { storage }),
      also: {
        remove_ended_endpoints: webhooks.endpoints.removeEnded,
        fail_paused_deliveries: webhooks.endpoints.failPaused,
        forget_keys: () => forgetRevoked(pool, clock.now() - revokedKept),
        ...(sweep !== null && { sweep_directory: sweep }),
      },
      ...(role === 'api' && { onStep: createMaintenanceMetrics(register) }),
    }),
    lookUp: createLookUp(pool, clock),
    beginSession: createKeySessions({ database, keys, links, clock, scopes }),
    uses: createUseRecorder({
      pool,
      clock,
      onError: (error) =>
        log.warn({ ...of, err: loggable(error) }, 'the last use of a key could not be recorded'),
    }),
    /** Whether the database responds, at most a second old. */
    answers,
    isReady,
    /** Changes that are queued for their commit, or are being committed. */
    pending,
    idle,
    register,
  }
}

function sharedBy(pool: Pool, register: Registry, telemetry: Telemetry | null): Database {
  const observer = {
    ...createPoolMetrics(register, () => database.usage),
    observe: telemetry === null ? undefined : observeStatements(telemetry),
  }
  const database: FairPool = new FairPool(pool, observer)
  return database
}

interface DeskOptions {
  readonly pool: Pool
  readonly database: Database
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  readonly journal: Journal
  readonly searchTimeout: number
  readonly readers?: Partial<ReaderLimits>
  readonly erasePayloads: (organizationId: string) => Promise<void>
}

/** The caller notifies `readers` of commits. */
function kindRoutes(options: DeskOptions): {
  readonly parts: readonly BoundRoutes[]
  readonly readers: WaitingReaders
} {
  const { pool, database, clock, kinds, journal } = options
  const readers = createWaitingReaders(createReadClocks(pool), options.readers)
  const rows = createRows(database, kinds)
  const queue = createKeyedQueue()
  const parts = kinds.map((kind) => {
    const writing = { kind, journal, rows, clock, queue }
    const services = {
      rows: rows(kind),
      stream: {
        feed: createFeed(database, kind.table),
        kinds: new Set([kind.name]),
        readers,
      },
      browse: createBrowse(database, kind, options.searchTimeout),
      changes: createChanges(writing),
      batch: createBatch({ ...writing, references: namedReferences(kind, kinds) }),
      lines: createFeed(database, kind.table, 'lines'),
      digests: createRangeDigestReader(database, kind.table),
      database,
      clock,
      erasePayloads: options.erasePayloads,
    }
    return bindRoutes(() => kindApi(kind, kinds).routes, services)
  })
  const stream = { feedOf: joinedFeeds(database, kinds), readers }
  return { parts: [...parts, bindRoutes(() => streamApi(kinds).routes, stream)], readers }
}

function createRows(database: Database, kinds: readonly Kind[]): Rows {
  const readers = new Map(kinds.map((kind) => [kind.name, createRowReader(database, kind.table)]))
  return ({ name }) => {
    const reader = readers.get(name)
    if (reader === undefined) throw new Error(`this installation has no ${name}`)
    return reader
  }
}
