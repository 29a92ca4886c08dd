/** The composition root of the API. `database-services.ts` builds what belongs to one database. */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import {
  createRateLimiter,
  type RateLimit,
  type RateLimiter,
  unauthenticatedLimit,
} from './admission/rate-limit.ts'
import { apiDocument, apiModules } from './api-document.ts'
import { type Authenticator, createAuthenticator, type LookUp } from './auth/authenticator.ts'
import {
  createDatabaseServices,
  type DatabaseHandle,
  type DatabaseServices,
  type SharedOptions,
} from './database-services.ts'
import { createDirectory } from './databases/directory.ts'
import { createDatabaseRouter, type DatabaseRouter } from './databases/router.ts'
import { isNotServed, OrganizationNotServed } from './db/not-served.ts'
import { signingKeysApi } from './delivery/endpoint/signing-keys-route.ts'
import { keysOf } from './delivery/endpoint/vault.ts'
import { createResolver } from './delivery/send/resolver.ts'
import { kinds as deskKinds } from './desk/index.ts'
import { type AdmissionLimits, RequestAdmission } from './http/admit.ts'
import type { Offload } from './http/offload.ts'
import { addressesApi, createDocument, createHealth, documentApi, healthApi } from './http/own-routes.ts'
import { bindRoutes, registerRoutes, registerSharded, type ShardRouter } from './http/route.ts'
import { createServer } from './http/server.ts'
import { refuseOtherMethods } from './http/unknown-address.ts'
import type { NotifyWorker } from './journal/notifier.ts'
import { isWithin, type Networks, noNetworks } from './kernel/networks.ts'
import type { Telemetry } from './kernel/telemetry.ts'
import type { Clock } from './kernel/timestamps.ts'
import type { BeginSession } from './keys/console-links.ts'
import type { Kind } from './kinds/model/kind.ts'
import { createAccessTokens } from './mcp/access-tokens.ts'
import { createMcpServices, mcpRoutes, resourceRoutes } from './mcp/routes.ts'
import { createRegistry, type MetricsSnapshot, metricsText } from './metrics/registry.ts'
import { countAdmission, timeRequests } from './metrics/requests.ts'
import { metricsApi } from './metrics/route.ts'
import { builtConsole, builtDocs, registerPages } from './pages/routes.ts'
import { type Admin, adminRoutes } from './roles/admin.ts'

export interface AppOptions
  extends Pick<SharedOptions, 'log' | 'settings' | 'searchTimeout' | 'storage' | 'maxClockSkew' | 'readers'> {
  readonly pool: Pool
  readonly clock: Clock
  /** With several databases, the name of this one, which has the directory. */
  readonly name?: string
  readonly others?: readonly DatabaseHandle[]
  /** Per key in this process; null: no limit. */
  readonly rateLimit: RateLimit | null
  readonly admission?: AdmissionLimits
  readonly kinds?: readonly Kind[]
  /** Metrics of other processes to include in `/metrics`. */
  readonly otherMetrics?: () => Promise<readonly MetricsSnapshot[]>
  /** The URL of the service for clients, such as `https://desk.example`. Default: taken from the request. */
  readonly publicUrl?: string | null
  /** Proxies whose forwarding headers are trusted. Default: none. */
  readonly trustedProxies?: Networks
  /** The addresses that deliveries come from, for receivers to read. Default: none. */
  readonly webhookAddresses?: Networks
  /** Origins that may call from a browser. Default: none. */
  readonly corsOrigins?: readonly string[]
  /** Origins that may show the console in a frame. Default: none. */
  readonly consoleFrameAncestors?: readonly string[]
  /** Another server serves `/metrics`. */
  readonly metricsElsewhere?: boolean
  /** What does not work besides the API, for `/readyz`; null when everything does. */
  readonly degraded?: () => string | null
  /** Notifies the worker of this process of due queues. Default: the database notifies workers. */
  readonly notifyWorker?: NotifyWorker | null
  /** Runs large requests in the offload thread. Default: they run here. */
  readonly offload?: Offload
  readonly offloadWaiting?: () => number
  /** Default: api. The offload thread serves no route of the process itself: no metrics, no health, no pages. */
  readonly role?: 'api' | 'offload'
  readonly telemetry?: Telemetry | null
  /** Serves `/mcp`. Default: no. */
  readonly mcp?: boolean
  /** The issuer whose access tokens `/mcp` accepts; it needs `publicUrl`. Default: none. */
  readonly mcpIssuer?: string | null
  /** Serves `/admin/v1`. Default: no. */
  readonly admin?: Admin | null
}

export type App = ReturnType<typeof createApp>

/** The service on migrated databases. The caller closes their pools. */
export function createApp(options: AppOptions) {
  const { pool, clock, log, settings, kinds = deskKinds, role = 'api', others = [] } = options
  const {
    name = null,
    otherMetrics = async () => [],
    notifyWorker = null,
    publicUrl = null,
    trustedProxies = noNetworks,
    corsOrigins = [],
    telemetry = null,
  } = options
  const resolver = createResolver({ servers: settings.dnsServers, trusted: settings.trustedTargets, clock })
  const register = createRegistry(role)
  const databases: readonly DatabaseHandle[] = [
    { name, pool, clock, notifyWorker, isReady: () => true },
    ...others,
  ]
  const shared: SharedOptions = { ...options, kinds, role, telemetry, resolver }
  const { shards, router } = openShards(databases, shared, register)
  const pending = () => shards.reduce((sum, shard) => sum + shard.pending(), 0)
  const unauthenticated = role === 'api' ? createRateLimiter(unauthenticatedLimit, clock) : undefined
  const server = createServer(log, {
    publicUrl,
    ...(trustedProxies.length === 0 ? {} : { isTrustedProxy: (ip: string) => isWithin(ip, trustedProxies) }),
    corsOrigins,
    ...(options.offload && { offload: options.offload }),
    ...(unauthenticated && { unauthenticated }),
    ...(role === 'api' && admissionOfRequests(register, pending, options)),
    telemetry,
    inside: role === 'offload',
  })
  server.addHook('onClose', () => resolver.close())
  // Waiting readers are answered before the server waits for its requests.
  server.addHook('preClose', (done) => {
    for (const { readers } of shards) readers.end()
    done()
  })
  const registers = [...new Set([register, ...shards.map((shard) => shard.register)])]

  const allowed = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set<string>()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })
  const metrics = metricsText(() => registers, otherMetrics, clock)
  if (role === 'api') registerOwnRoutes(server, options, shards, metrics)
  const authenticator = authenticatorOf(server, options, shards, router, unauthenticated)
  registerSharded(server, shards, { authenticator }, router === null ? null : shardRouterOf(router))
  const { admin } = options
  if (admin) {
    registerRoutes(server, adminRoutes, admin)
    server.addHook('onClose', admin.close)
  }
  if (options.mcp)
    registerMcp(server, shards, authenticator, {
      kinds,
      clock,
      origins: corsOrigins,
      publicUrl,
      issuer: options.mcpIssuer ?? null,
      log,
    })
  const routes = new Map([...allowed].map(([url, methods]) => [url, new Set(methods)]))
  refuseOtherMethods(server, routes)
  return {
    server,
    /** The methods of each address, in Fastify's form: `/v1/tickets/:id`. */
    routes,
    shards,
    /** Of the first database. `startStreamListener` notifies readers of commits. */
    maintenance: shards[0].maintenance,
    readers: shards[0].readers,
    /** The organization has moved to another shard; null: any may have. No effect with one database. */
    moved(organizationId: string | null): void {
      router?.forget(organizationId)
      // Readers that wait at the old shard continue at the new one.
      if (organizationId !== null) for (const { readers } of shards) readers.endOf(organizationId)
    },
    metrics,
    /** The metrics of the process alone. */
    register,
    /** These, and with several databases also those of each. */
    registers,
    pending,
  }
}

/** The services of each database; with several, also the router that finds the shard of a request. */
function openShards(
  databases: readonly DatabaseHandle[],
  options: SharedOptions,
  register: Registry,
): {
  readonly shards: readonly [DatabaseServices, ...DatabaseServices[]]
  readonly router: DatabaseRouter | null
} {
  const [first] = databases
  if (first === undefined) throw new Error('there is no database')
  if (databases.length === 1)
    return { shards: [createDatabaseServices(first, options, register, null)], router: null }
  options.telemetry?.publish(register)
  const directory = createDirectory(first.pool, nameOf(first))
  const open = (database: DatabaseHandle) =>
    createDatabaseServices(
      database,
      options,
      createRegistry(options.role, nameOf(database)),
      database === first ? null : { ...directory, pool: first.pool },
    )
  const shards = [open(first), ...databases.slice(1).map(open)] as const
  const [named, ...others] = shards.map((shard) => ({ ...shard, name: nameOf(shard) }))
  if (named === undefined) throw new Error('there is no database')
  const router = createDatabaseRouter({ directory, clock: first.clock, shards: [named, ...others] })
  return { shards, router }
}

function nameOf(database: Pick<DatabaseHandle, 'name'>): string {
  if (database.name === null) throw new Error('one of several databases has no name')
  return database.name
}

function admissionOfRequests(
  register: Registry,
  pending: () => number,
  { admission: limits, offloadWaiting = () => 0 }: AppOptions,
) {
  const admission = new RequestAdmission(limits)
  const onError = countAdmission(register, () => {
    const { waiting, ...held } = admission.usage
    return { ...held, waiting: waiting + offloadWaiting(), pending: pending() }
  })
  return { admission, metrics: { onResponse: timeRequests(register), onError } }
}

function registerOwnRoutes(
  server: FastifyInstance,
  {
    kinds = deskKinds,
    degraded = () => null,
    consoleFrameAncestors: frameAncestors = [],
    metricsElsewhere = false,
    webhookAddresses = noNetworks,
    settings,
  }: AppOptions,
  shards: readonly DatabaseServices[],
  metrics: () => Promise<string>,
): void {
  registerRoutes(server, healthApi.routes, createHealth(shards, degraded))
  const document = createDocument(() => apiModules(kinds, !metricsElsewhere))
  registerRoutes(server, documentApi.routes, document)
  registerRoutes(server, addressesApi.routes, webhookAddresses)
  registerRoutes(server, signingKeysApi.routes, keysOf(settings))
  registerPages(server, { docs: builtDocs, console: builtConsole, frameAncestors })
  if (!metricsElsewhere) registerRoutes(server, metricsApi.routes, { text: metrics })
}

/** Its calls of the API find their organization's database themselves. */
function registerMcp(
  server: FastifyInstance,
  shards: readonly DatabaseServices[],
  authenticator: Authenticator,
  parts: Omit<Parameters<typeof createMcpServices>[0], 'document'> & {
    readonly issuer: string | null
    readonly log: AppOptions['log']
  },
): void {
  const services = createMcpServices({ ...parts, document: () => apiDocument(parts.kinds) })
  server.addHook('preClose', () => services.close())
  const routes = [bindRoutes(() => mcpRoutes, services)]
  const everywhere = shards.map(({ idempotency }) => ({ parts: routes, idempotency }))
  const { issuer, publicUrl, clock, log } = parts
  if (issuer === null || publicUrl === null) {
    registerSharded(server, everywhere, { authenticator }, null)
    return
  }
  const resource = `${publicUrl}/mcp`
  const { lookUp } = authenticator
  const beginSession = beginSessionIn(shards)
  const exchange = createAccessTokens({ issuer, audience: resource, clock, beginSession, lookUp, log })
  registerSharded(server, everywhere, { authenticator, exchange }, null)
  registerRoutes(server, resourceRoutes, { resource, issuer })
}

/**
 * In the database that serves the key's organization. @throws the error of a database that may serve it, when no
 * other does
 */
function beginSessionIn(shards: readonly DatabaseServices[]): BeginSession {
  return async (key, wanted) => {
    const found = shards.map(
      async ({ beginSession }) => (await beginSession(key, wanted)) ?? Promise.reject(noSuchKey),
    )
    try {
      return await Promise.any(found)
    } catch (error) {
      const failure = (error as AggregateError).errors.find((reason) => reason !== noSuchKey)
      if (failure !== undefined) throw failure
      return null
    }
  }
}

const noSuchKey = new Error('the database has no such key')

/** Authenticates requests. Noted uses are written before the server has closed. */
function authenticatorOf(
  server: FastifyInstance,
  { clock, rateLimit: limit }: AppOptions,
  shards: readonly [DatabaseServices, ...DatabaseServices[]],
  router: DatabaseRouter | null,
  unauthenticated: RateLimiter | undefined,
): Authenticator {
  server.addHook('onClose', async () => void (await Promise.all(shards.map(({ uses }) => uses.settled()))))
  const [{ lookUp }] = shards
  return createAuthenticator({
    lookUp: router === null ? onlyHere(lookUp) : router.lookUp,
    clock,
    limit,
    unauthenticated,
    uses: { note: (caller) => shards[caller.shard ?? 0]?.uses.note(caller) },
  })
}

/** With one database, no other can serve an organization that has moved. */
function onlyHere(lookUp: DatabaseServices['lookUp']): LookUp {
  return async (token) => {
    const found = await lookUp(token)
    if (found.outcome === 'elsewhere') throw new OrganizationNotServed()
    return found
  }
}

/**
 * Tries of a request of an organization that is being moved, and the delay in milliseconds: the move blocks it for
 * about a second.
 */
const followedAtMost = 200
const followedApart = 25

function shardRouterOf(shards: DatabaseRouter): ShardRouter {
  return {
    shardOf: shards.shardOf,
    async follow(caller, error, tried) {
      if (!isNotServed(error) || tried > followedAtMost) return null
      if (tried > 1) await delay(followedApart)
      return shards.follow(caller)
    },
  }
}
