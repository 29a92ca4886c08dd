/** The API as a running part: listening, then stopped. */
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { RateLimit } from '../access/rate-limit.ts'
import { type App, type AppOptions, createApp } from '../app.ts'
import { type FollowingClock, followDatabaseClock } from '../db/clock.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import { maxClockSkew } from '../journal/clock-skew.ts'
import { atMost } from '../kernel/periodic.ts'
import { createBulk } from './bulk.ts'
import type { Running } from './running.ts'
import { startStreamListener } from './stream-listener.ts'

/** How long requests under way may take when the service is told to stop, in milliseconds. */
const requestsEndWithin = 12_000
/** And what waits for a database that does not answer; with what comes after it, the service ends within 15 s. */
const stopMilliseconds = 13_000

/** The service cannot listen where it is told to; the message says what to set instead. */
export class ListenError extends Error {}

interface Where {
  readonly host: string
  readonly port: number
}

/** Resolves when it listens. @throws ListenError when it cannot. */
export async function startApi(
  where: Where,
  options: {
    readonly pool: Pool
    /** Where the database is, for the connection that hears of commits. */
    readonly address: DatabaseAddress
    readonly log: Logger
    readonly settings: DeliverySettings
    readonly rateLimit: RateLimit | null
    readonly searchTimeout: number
    readonly otherMetrics: NonNullable<AppOptions['otherMetrics']>
    /** The database's unless told: the torture's are wrong on purpose. */
    readonly clock?: FollowingClock
  } & Pick<
    AppOptions,
    | 'worker'
    | 'storage'
    | 'trustedProxies'
    | 'corsOrigins'
    | 'consoleFrameAncestors'
    | 'metricsElsewhere'
    | 'degraded'
    | 'telemetry'
  >,
): Promise<Running & { readonly address: string; readonly metrics: App['metrics'] }> {
  const clock = options.clock ?? followDatabaseClock(options.pool)
  await clock.ready
  const { address, settings, log, otherMetrics, searchTimeout, storage } = options
  // With a clock of its own everything is answered by it, and so here.
  const bulk =
    options.clock === undefined
      ? createBulk({ address, settings, searchTimeout, storage, logLevel: log.level }, log)
      : null
  const { server, maintenance, readers, metrics } = createApp({
    ...options,
    ...(bulk === null ? {} : { handOver: bulk.handOver }),
    otherMetrics: async () => (await Promise.all([otherMetrics(), bulk?.metrics() ?? []])).flat(),
    clock,
    maxClockSkew,
  })
  await listen(server, where)
  maintenance.start()
  const listener = startStreamListener(readers, options.address, options.log)
  return {
    address: addressOf(server.server.address()),
    metrics,
    async stop() {
      const late = setTimeout(() => server.server.closeAllConnections(), requestsEndWithin)
      await atMost(stopMilliseconds, Promise.all([server.close(), maintenance.stop()]))
      clearTimeout(late)
      await Promise.all([listener.close(), bulk?.stop()])
      clock.stop()
    },
  }
}

/** Listens where it is told. @throws ListenError when it cannot. */
export async function listen(
  server: FastifyInstance,
  { host, port }: Where,
  variable = 'DESKWIRE_PORT',
): Promise<void> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'something else listens there' : message
    throw new ListenError(
      `cannot listen on ${host}, port ${port}: ${reason}; set DESKWIRE_HOST and ${variable} (port 0 picks a free one)`,
      { cause: error },
    )
  }
}

/** `http://HOST:PORT` of what listens. */
export function addressOf(address: ReturnType<import('node:net').Server['address']>): string {
  if (address === null || typeof address === 'string') return String(address)
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
