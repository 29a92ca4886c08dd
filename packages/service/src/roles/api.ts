/** The API as a running part: listening, then drained. */
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { RateLimit } from '../access/rate-limit.ts'
import { type AppOptions, createApp } from '../app.ts'
import { type FollowingClock, followDatabaseClock } from '../db/clock.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import type { DeliverySettings } from '../deliveries.ts'
import { maxLead } from '../journal/lead.ts'
import { createBulk } from './bulk.ts'
import type { Running } from './running.ts'
import { startStreamListener } from './stream-listener.ts'

/** How long requests under way may take when the service is told to stop, in milliseconds. */
const drainMilliseconds = 15_000

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
    readonly otherMetrics: NonNullable<AppOptions['otherMetrics']>
    /** The database's unless told: the torture's are wrong on purpose. */
    readonly clock?: FollowingClock
  },
): Promise<Running & { readonly address: string }> {
  const clock = options.clock ?? followDatabaseClock(options.pool)
  await clock.ready
  const { address, settings, log, otherMetrics } = options
  // With a clock of its own everything is answered by it, and so here.
  const bulk =
    options.clock === undefined ? createBulk({ address, settings, logLevel: log.level }, log) : null
  const { server, maintenance, readers } = createApp({
    ...options,
    ...(bulk === null ? {} : { handOver: bulk.handOver }),
    otherMetrics: async () => (await Promise.all([otherMetrics(), bulk?.metrics() ?? []])).flat(),
    clock,
    maxLead,
  })
  await listen(server, where)
  maintenance.start()
  const listener = startStreamListener(readers, options.address, options.log)
  return {
    address: addressOf(server.server.address()),
    async stop() {
      const drained = setTimeout(() => server.server.closeAllConnections(), drainMilliseconds)
      await server.close()
      clearTimeout(drained)
      await Promise.all([maintenance.stop(), listener.close(), bulk?.stop()])
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
