/** The composition root of the API: everything is built here, and disposed here. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { type Admission, createAdmission } from './access/admission.ts'
import { createLookUp } from './access/directory.ts'
import type { RateLimit } from './access/rate-limit.ts'
import { scopeNames } from './access/scopes.ts'
import { createUseRecorder } from './access/uses.ts'
import { apiParts } from './api-document.ts'
import { builtConsole } from './console/files.ts'
import { consolePart, createConsole } from './console/routes.ts'
import { type Database, FairPool, unshared } from './db/fair-pool.ts'
import { observePools, observeStatements } from './db/observe-statements.ts'
import { createEndpointQueues } from './delivery/endpoint-queues.ts'
import { attemptsOf, type DeliverySettings } from './delivery/model.ts'
import { createReadPayload } from './delivery/payload.ts'
import { createResolver } from './delivery/target/resolver.ts'
import { kinds as deskKinds } from './desk/index.ts'
import { createDocs, docsPart } from './docs/routes.ts'
import { compressAnswers } from './http/compression.ts'
import type { HandOver } from './http/hand-over.ts'
import { createHealth, healthPart } from './http/health.ts'
import { createIdempotencyStore } from './http/idempotency.ts'
import { type Access, registerRoutes } from './http/route.ts'
import { createServer, refuseOtherMethods } from './http/server.ts'
import { limitShares } from './http/shares.ts'
import type { StorageLimits } from './journal/change.ts'
import { type CallUnderClock, createJournal } from './journal/journal.ts'
import { createNotifier, type WorkerBeside } from './journal/notifier.ts'
import type { WaitingReaders } from './journal/waiting-readers.ts'
import { loggable } from './kernel/loggable.ts'
import { isWithin, type Networks, noNetworks } from './kernel/networks.ts'
import type { Telemetry } from './kernel/telemetry.ts'
import type { Clock } from './kernel/timestamps.ts'
import { consoleLinkPart } from './keys/console-link-routes.ts'
import { createConsoleLinks } from './keys/console-links.ts'
import { createKeys } from './keys/keys.ts'
import { keyPart } from './keys/routes.ts'
import { createKeyStore } from './keys/store.ts'
import { outdatedRows } from './kinds/backfill.ts'
import type { Kind } from './kinds/kind.ts'
import { registerDesk } from './kinds/register.ts'
import { createRegistry, type MetricsSnapshot, metricsPart, metricsText } from './metrics/registry.ts'
import { createCommitMetrics, timeRequests } from './metrics/requests.ts'
import { countShares, createConnectionMetrics, createPoolMetrics } from './metrics/shares.ts'
import { createOutdatedMetrics, createStandingMetrics, createStorageMetrics } from './metrics/standing.ts'
import { createOrganizations } from './organization/organization.ts'
import { organizationPart } from './organization/routes.ts'
import { createMaintenance, type Maintenance } from './retention/maintenance.ts'
import { largest, largestStores } from './retention/storage.ts'
import { schemaOf } from './schema.ts'
import { deliveryPart } from './webhooks/delivery-routes.ts'
import { createEndpoints } from './webhooks/endpoints.ts'
import { createEventTypes } from './webhooks/event-types.ts'
import { readNamedKeys } from './webhooks/installation-key.ts'
import { createDeliveryLog } from './webhooks/log.ts'
import { createRecoveryStore } from './webhooks/recovery.ts'
import { recoveryPart } from './webhooks/recovery-routes.ts'
import { endpointPart } from './webhooks/routes.ts'
import { statsPart } from './webhooks/stats-routes.ts'
import { createWebhookStore } from './webhooks/store.ts'
import { createTargetCheck } from './webhooks/target-check.ts'
import { createVault, keysOf, type Vault } from './webhooks/vault.ts'

export interface App {
  readonly server: FastifyInstance
  /** The methods that each address takes, as the server has them: `/v1/tickets/:id`. */
  readonly routes: ReadonlyMap<string, ReadonlySet<string>>
  readonly maintenance: Maintenance
  /** Readers of the stream that wait; to be told what commits, by `startStreamListener`. */
  readonly readers: WaitingReaders
  /** What `/metrics` says, here or elsewhere. */
  readonly metrics: () => Promise<string>
  /** Its figures alone. */
  readonly register: Registry
  /** Changes that wait for their organization's turn to commit, or are being committed. */
  readonly pending: () => number
}

export interface AppOptions {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly settings: DeliverySettings
  /** How often a key may call this process; null limits nothing. */
  readonly rateLimit: RateLimit | null
  /** How long a search for words may take, in milliseconds. */
  readonly searchTimeout: number
  /** What an organization may store; as much as it likes unless told. */
  readonly storage?: StorageLimits
  readonly kinds?: readonly Kind[]
  /** Metrics of the processes that this one speaks for. */
  readonly otherMetrics?: () => Promise<readonly MetricsSnapshot[]>
  /** Proxies that are believed about where a request came from; none unless told. */
  readonly trustedProxies?: Networks
  /** Origins whose pages may call from a browser; none unless told. */
  readonly corsOrigins?: readonly string[]
  /** Origins whose pages may show the console in a frame; none unless told. */
  readonly consoleFrameAncestors?: readonly string[]
  /** Whether `/metrics` is served elsewhere, and not by this server. */
  readonly metricsElsewhere?: boolean
  /** What does not work beside the API, for `/readyz`; null when all does. */
  readonly degraded?: () => string | null
  /** The worker beside this process; without one, workers hear of deliveries by way of the database, and look for them. */
  readonly worker?: WorkerBeside
  /** How far the clock may be ahead of the database's, in milliseconds; as far as it likes unless told: tests move it. */
  readonly maxClockSkew?: number
  /** Answers requests whose bodies take long to read; without it they are answered here. */
  readonly handOver?: HandOver
  /** `bulk` for the thread that they are handed to: it answers nothing of the process as a whole. */
  readonly part?: 'api' | 'bulk'
  /** What it tells of its work to; nobody unless told. */
  readonly telemetry?: Telemetry | null
}

/** The service on a migrated database. The pool stays its caller's. */
export function createApp(options: AppOptions): App {
  const { pool, clock, log, settings, kinds = deskKinds, maxClockSkew, part = 'api' } = options
  const {
    storage,
    otherMetrics = async () => [],
    worker = null,
    trustedProxies = noNetworks,
    corsOrigins = [],
    telemetry = null,
  } = options
  const register = createRegistry(part)
  const notifier = createNotifier(
    pool,
    (error) => log.warn({ err: loggable(error) }, 'workers and waiting readers could not be notified'),
    worker,
  )
  const wake = notifier.deliveries
  // What comes to the thread has had its organization's turn before.
  const database = part === 'bulk' ? unshared(pool) : sharedBy(pool, register, telemetry)
  createConnectionMetrics(register, { [part]: pool })
  if (telemetry !== null) {
    observePools(telemetry, { [part]: pool })
    telemetry.publish(register)
  }
  const vault = createVault(keysOf(settings), async () => (await readNamedKeys(pool)).current)
  const server = createServer(log, {
    ...(trustedProxies.ranges.length === 0
      ? {}
      : { isTrustedProxy: (ip: string) => isWithin(ip, trustedProxies) }),
    corsOrigins,
    ...(options.handOver === undefined ? {} : { handOver: options.handOver }),
    telemetry,
    inside: part === 'bulk',
  })
  const { callUnderClock, pending, ...journal } = createJournal({
    pool,
    database,
    clock,
    tables: kinds.map((kind) => kind.table),
    commitFunction: schemaOf(kinds).commitFunction,
    maxAttempts: attemptsOf(settings.schedule),
    notifier,
    onCommit: createCommitMetrics(register, (clockSkew) =>
      log.warn({ seconds: Math.round(clockSkew / 1000) }, "the stream's clock is ahead of the database's"),
    ),
    ...(maxClockSkew === undefined ? {} : { maxClockSkew }),
    ...(storage && { storage }),
    worker,
    tracer: telemetry?.tracer ?? null,
  })
  const access = {
    admission: admissionOf(server, options),
    idempotency: createIdempotencyStore(
      { database, callUnderClock },
      clock,
      (sealed, organizationId, webhookId) => vault.open(sealed, { organizationId, webhookId }),
    ),
  }

  const allowed = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set<string>()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })
  const metrics = metricsText(register, otherMetrics, clock)
  if (part === 'api') registerOwnRoutes(server, options, { register, metrics, pending })
  const desk = { pool, database, clock, kinds, journal, searchTimeout: options.searchTimeout }
  const { readers } = registerDesk(server, desk, access)
  const shared = { database, callUnderClock, vault, access, wake, kinds }
  registerWebhooks(server, options, shared)
  registerKeys(server, options, shared)
  registerRoutes(server, organizationPart.routes, createOrganizations(database, clock), access)
  const routes = new Map([...allowed].map(([url, methods]) => [url, new Set(methods)]))
  refuseOtherMethods(server, routes)
  const maintenance = createMaintenance({
    pool,
    clock,
    log,
    logRetention: settings.logRetention,
    ...(storage && { storage }),
  })
  return { server, routes, maintenance, readers, metrics, register, pending }
}

function sharedBy(pool: Pool, register: Registry, telemetry: Telemetry | null): Database {
  const database: FairPool = new FairPool(pool, {
    ...createPoolMetrics(register, () => database.standing),
    asked: telemetry === null ? undefined : observeStatements(telemetry),
  })
  return database
}

/** What a process answers of itself, and counts of its requests. */
function registerOwnRoutes(
  server: FastifyInstance,
  {
    pool,
    clock,
    kinds = deskKinds,
    degraded = () => null,
    consoleFrameAncestors: frameAncestors = [],
    metricsElsewhere = false,
  }: AppOptions,
  { register, metrics, pending }: Pick<App, 'register' | 'metrics' | 'pending'>,
): void {
  timeRequests(server, register)
  const { standing } = limitShares(server)
  compressAnswers(server)
  countShares(server, register, () => ({ ...standing(), pending: pending() }))
  registerRoutes(server, healthPart.routes, createHealth({ pool, clock, degraded }), null)
  const docs = createDocs(() => apiParts(kinds, !metricsElsewhere))
  registerRoutes(server, docsPart.routes, docs, null)
  const page = createConsole({ directory: builtConsole, frameAncestors })
  registerRoutes(server, consolePart.routes, page, null)
  createStandingMetrics(register, pool, clock)
  createStorageMetrics(register, clock, { ranks: largest, read: () => largestStores(pool) })
  createOutdatedMetrics(register, clock, () => outdatedRows(pool, kinds))
  if (!metricsElsewhere) registerRoutes(server, metricsPart.routes, { text: metrics }, null)
}

/** Who comes in. Uses that are noted are written before the server has closed. */
function admissionOf(server: FastifyInstance, { pool, clock, log, rateLimit: limit }: AppOptions): Admission {
  const uses = createUseRecorder({
    pool,
    clock,
    onError: (error) => log.warn({ err: loggable(error) }, 'the last use of a key could not be recorded'),
  })
  server.addHook('onClose', () => uses.settled())
  return createAdmission({ lookUp: createLookUp(pool, clock), clock, limit, uses })
}

/** What keys, endpoints and their like, which are no kinds, are made of. */
interface Shared {
  readonly database: Database
  readonly callUnderClock: CallUnderClock
  readonly vault: Vault
  readonly access: Access
  readonly wake: () => void
  readonly kinds: readonly Kind[]
}

function registerKeys(server: FastifyInstance, { clock }: AppOptions, shared: Shared): void {
  const { database, callUnderClock, vault, access, wake, kinds } = shared
  const store = createKeyStore(database, callUnderClock)
  const scopes = scopeNames(kinds.map(({ plural }) => plural))
  const seal = (answer: string, organizationId: string, id: string) =>
    vault.seal(answer, { organizationId, webhookId: id })
  const keys = createKeys({ store, clock, scopes, seal, wake })
  registerRoutes(server, keyPart(kinds).routes, { keys, store, clock }, access)
  const links = createConsoleLinks({ database, callUnderClock, clock, scopes, seal })
  registerRoutes(server, consoleLinkPart(kinds).routes, { links }, access)
}

function registerWebhooks(server: FastifyInstance, { clock, settings }: AppOptions, shared: Shared): void {
  const { database, callUnderClock, vault, access, wake, kinds } = shared
  const { dnsServers, trustedTargets, rotationOverlap, logRetention } = settings
  const resolver = createResolver({ servers: dnsServers, trusted: trustedTargets, clock })
  server.addHook('onClose', () => resolver.close())
  const tables = kinds.map((kind) => kind.table)
  const store = createWebhookStore(database, callUnderClock)
  const eventTypes = createEventTypes(kinds)
  const { answerTimeout, disableAfter } = settings.schedule
  const queues = createEndpointQueues(database, tables)
  const endpoints = createEndpoints({
    store,
    clock,
    eventTypes,
    vault,
    rotationOverlap,
    disableAfter,
    wake,
    checkTarget: createTargetCheck(resolver, answerTimeout),
    failPending: (organizationId, webhookId, reason) =>
      queues.failPending({ organizationId, webhookId }, reason, clock.now()),
  })
  registerRoutes(server, endpointPart(kinds).routes, { endpoints, store, clock, disableAfter }, access)
  const deliveries = createDeliveryLog(database)
  const payloadOf = createReadPayload(database, tables)
  const services = {
    endpoints,
    store,
    deliveries,
    payloadOf,
    eventTypes,
    vault,
    clock,
    schedule: settings.schedule,
    hasten: queues.hasten,
    retention: logRetention,
    wake,
  }
  registerRoutes(server, deliveryPart(kinds).routes, services, access)
  const recoveries = createRecoveryStore(database, callUnderClock)
  registerRoutes(server, recoveryPart.routes, { ...services, recoveries }, access)
  registerRoutes(server, statsPart(kinds).routes, { ...services, database }, access)
}
