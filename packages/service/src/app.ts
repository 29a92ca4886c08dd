/** The composition root of the API: everything is built here, and disposed here. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { createTokenDirectory } from './access/directory.ts'
import { apiDocument } from './api-document.ts'
import type { Schema, SchemaFunction } from './db/migration.ts'
import { coreMigrations } from './db/migrations/core.ts'
import { webhookMigrations } from './db/migrations/webhooks.ts'
import { createTargetCheck, type DeliverySettings } from './deliveries.ts'
import { deliveryFunctions } from './delivery/functions.ts'
import { createLanes } from './delivery/lanes.ts'
import { attemptsOf } from './delivery/schedule.ts'
import { createResolver } from './delivery/target/resolver.ts'
import { registerDocs } from './docs/routes.ts'
import { registerHealth } from './http/health.ts'
import { createIdempotencyStore } from './http/idempotency.ts'
import { createServer, refuseOtherMethods } from './http/server.ts'
import { commitFunction } from './journal/commit-function.ts'
import { createFeed } from './journal/feed.ts'
import { createJournal } from './journal/journal.ts'
import { createNotifier } from './journal/notifier.ts'
import { createRowReader } from './journal/rows.ts'
import type { Clock } from './kernel/clock.ts'
import { createKeyedQueue } from './kernel/keyed-queue.ts'
import { loggable } from './kernel/loggable.ts'
import { createMaintenance, type Maintenance } from './maintenance.ts'
import { createBatch } from './resource/batch.ts'
import { createBrowse } from './resource/browse.ts'
import { registerBulkRoutes } from './resource/bulk-routes.ts'
import { createChanges } from './resource/changes.ts'
import type { Rows } from './resource/creations.ts'
import type { Kind } from './resource/kind.ts'
import { registerKindRoutes } from './resource/routes.ts'
import { kinds as deskKinds } from './resources/index.ts'
import { registerDeliveryRoutes } from './webhooks/delivery-routes.ts'
import { createEndpoints } from './webhooks/endpoints.ts'
import { createEventTypes } from './webhooks/event-types.ts'
import { webhookFunctions } from './webhooks/functions.ts'
import { createDeliveryLog } from './webhooks/log.ts'
import { registerWebhookRoutes } from './webhooks/routes.ts'
import { createSecretBox } from './webhooks/secrets.ts'
import { createWebhookStore } from './webhooks/store.ts'

/** What a database needs for an installation with these kinds. */
export function schemaOf(
  kinds: readonly Kind[] = deskKinds,
): Schema & { readonly commitFunction: SchemaFunction } {
  const commit = commitFunction(kinds.map((kind) => kind.table))
  return {
    commitFunction: commit,
    migrations: [...coreMigrations, ...webhookMigrations, ...kinds.flatMap((kind) => kind.migrations)],
    functions: [commit, ...deliveryFunctions, ...webhookFunctions],
  }
}

export interface App {
  readonly server: FastifyInstance
  /** The methods that each address takes, as the server has them: `/v1/tickets/:id`. */
  readonly routes: ReadonlyMap<string, ReadonlySet<string>>
  readonly maintenance: Maintenance
}

export interface AppOptions {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly settings: DeliverySettings
  readonly kinds?: readonly Kind[]
}

/** The service on a migrated database. The pool stays its caller's. */
export function createApp(options: AppOptions): App {
  const { pool, clock, log, settings, kinds = deskKinds } = options
  const wake = createNotifier(pool, (error) =>
    log.warn({ err: loggable(error) }, 'workers could not be told'),
  )
  const journal = createJournal({
    pool,
    clock,
    commitFunction: schemaOf(kinds).commitFunction,
    tables: kinds.map((kind) => kind.table),
    maxAttempts: attemptsOf(settings.schedule),
    onDeliveries: wake,
  })
  const box = createSecretBox(settings.encryptionKey)
  const access = {
    directory: createTokenDirectory(pool, clock),
    idempotency: createIdempotencyStore(pool, clock, (sealed, organizationId, webhookId) =>
      box.open(sealed, { organizationId, webhookId }),
    ),
  }

  const server = createServer(log)
  const allowed = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set<string>()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })
  registerHealth(server, pool)
  registerDocs(server, () => apiDocument(kinds))
  const rows = createRows(pool, kinds)
  const queue = createKeyedQueue()
  for (const kind of kinds) {
    const writing = { kind, journal, rows, clock, queue }
    const services = {
      kind,
      rows: rows(kind),
      feed: createFeed(pool, kind.table),
      browse: createBrowse(pool, kind),
      changes: createChanges(writing),
    }
    registerKindRoutes(server, services, access)
    const bulk = { kind, batch: createBatch(writing), lines: createFeed(pool, kind.table, '\n') }
    registerBulkRoutes(server, bulk, access)
  }
  registerWebhooks(server, options, { box, access, wake, kinds })
  const routes = new Map([...allowed].map(([url, methods]) => [url, new Set(methods)]))
  refuseOtherMethods(server, routes)
  const maintenance = createMaintenance({ pool, clock, log, logRetention: settings.logRetention })
  return { server, routes, maintenance }
}

/** A reader of rows for each kind. */
function createRows(pool: Pool, kinds: readonly Kind[]): Rows {
  const readers = new Map(kinds.map((kind) => [kind.name, createRowReader(pool, kind.table)]))
  return ({ name }) => {
    const reader = readers.get(name)
    if (reader === undefined) throw new Error(`this installation has no ${name}`)
    return reader
  }
}

function registerWebhooks(
  server: FastifyInstance,
  { pool, clock, settings }: AppOptions,
  shared: {
    readonly box: ReturnType<typeof createSecretBox>
    readonly access: Parameters<typeof registerWebhookRoutes>[2]
    readonly wake: () => void
    readonly kinds: readonly Kind[]
  },
): void {
  const { box, access, wake, kinds } = shared
  const { schedule, dnsServers, trustedTargets, rotationOverlap, logRetention } = settings
  const resolver = createResolver({ servers: dnsServers, trusted: trustedTargets, clock })
  server.addHook('onClose', () => resolver.close())
  const lanes = createLanes(
    pool,
    kinds.map((kind) => kind.table),
  )
  const store = createWebhookStore(pool)
  const eventTypes = createEventTypes(kinds)
  const endpoints = createEndpoints({
    store,
    clock,
    eventTypes,
    box,
    rotationOverlap,
    wake,
    checkTarget: createTargetCheck(resolver, schedule.answerTimeout),
    failPending: (organizationId, webhookId, reason) =>
      lanes.failPending({ organizationId, webhookId }, reason, clock.now()),
  })
  registerWebhookRoutes(server, { endpoints, store, clock }, access)
  const deliveries = createDeliveryLog(pool)
  const services = {
    endpoints,
    store,
    deliveries,
    eventTypes,
    box,
    clock,
    schedule,
    retention: logRetention,
    wake,
  }
  registerDeliveryRoutes(server, services, access)
}
