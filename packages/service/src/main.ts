/** Starting and stopping: the database, the schema, the first key, the server; SIGTERM drains. */
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { bootstrapOrganization } from './access/organizations.ts'
import { createApp, schemaOf } from './app.ts'
import type { Config } from './config.ts'
import { EmbeddedDatabaseError } from './db/embedded/index.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { systemClock } from './kernel/clock.ts'

/** How long requests under way may take when the service is told to stop, in milliseconds. */
const drainMilliseconds = 15_000

/** The service cannot listen where it is told to; the message says what to set instead. */
export class ListenError extends Error {}

/**
 * Runs the service until SIGTERM or SIGINT, and resolves when it has stopped cleanly; throws
 * EmbeddedDatabaseError when it stopped because its database ended. What a person must see,
 * the first key and the address, goes to standard output; the log, in JSON lines, to standard error.
 */
export async function serve(config: Config): Promise<void> {
  const log = pino({ level: config.logLevel, base: null }, pino.destination({ dest: 2, sync: true }))
  const stopped = stopSignal()
  const database = await openDatabase(config, log)
  try {
    const applied = await migrate(database.pool, schemaOf())
    if (applied.length > 0) log.info({ migrations: applied }, 'the schema was brought up to date')
    const first = await bootstrapOrganization(database.pool, systemClock, config.bootstrapKey)
    if (first !== null) announceFirstKey(first, config)

    const { server, maintenance } = createApp({ pool: database.pool, clock: systemClock, log })
    await listen(server, config)
    maintenance.start()
    process.stdout.write(`listening on ${addressOf(server.server.address())}\n`)

    const ending = await Promise.race([stopped, database.lost.then((how) => new EmbeddedDatabaseError(how))])
    log.info({ reason: String(ending) }, 'stopping: finishing what is under way')
    const drained = setTimeout(() => server.server.closeAllConnections(), drainMilliseconds)
    await server.close()
    clearTimeout(drained)
    await maintenance.stop()
    if (ending instanceof EmbeddedDatabaseError) throw ending
    log.info('stopped')
  } finally {
    await database.close()
  }
}

async function listen(server: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'something else listens there' : message
    throw new ListenError(
      `cannot listen on ${host}, port ${port}: ${reason}; set DESKWIRE_HOST and DESKWIRE_PORT (port 0 picks a free one)`,
      { cause: error },
    )
  }
}

function announceFirstKey(first: { organizationId: string; token: string }, config: Config): void {
  process.stdout.write(`organization ${first.organizationId} was created\n`)
  const shown = `, shown this once: ${first.token}`
  const told = ' is the one in DESKWIRE_BOOTSTRAP_KEY'
  process.stdout.write(`its API key${config.bootstrapKey === null ? shown : told}\n`)
}

/** Handlers that stay: Ctrl-C under npm arrives twice, and the second would end the process in mid-stop. */
function stopSignal(): Promise<string> {
  return new Promise((settle) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => settle(signal))
  })
}

function addressOf(address: ReturnType<import('node:net').Server['address']>): string {
  if (address === null || typeof address === 'string') return String(address)
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
