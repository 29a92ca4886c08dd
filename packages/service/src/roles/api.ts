import type { Logger } from 'pino'
import { type App, type AppOptions, createApp } from '../app.ts'
import { directoryChannel } from '../databases/directory.ts'
import { type FollowingClock, followDatabaseClock } from '../db/clock.ts'
import { listen as listenTo } from '../db/listen.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { maxClockSkew } from '../journal/commit-protocol.ts'
import type { NotifyWorker } from '../journal/notifier.ts'
import { startStreamListener } from '../journal/waiting-readers.ts'
import { atMost } from '../kernel/periodic.ts'
import type { Running } from './listen.ts'
import { addressOf, listen, type Where } from './listen.ts'
import { createOffloadThread } from './offload.ts'
import type { ServedDatabase } from './prepare.ts'

const requestsEndWithin = 12_000
/**
 * Milliseconds that a stop waits for work on an unavailable database; with the steps after it, the service stops within
 * 15 s.
 */
const stopMilliseconds = 13_000

export async function startApi(
  where: Where,
  options: Omit<AppOptions, 'clock' | 'others' | 'offload' | 'offloadWaiting' | 'maxClockSkew' | 'role'> & {
    /** For the connection that listens for commits. */
    readonly address: DatabaseAddress
    /** The other databases, each with the function that notifies its worker in this process. */
    readonly others?: readonly (ServedDatabase & { readonly notifyWorker: NotifyWorker | null })[]
    readonly log: Logger
    /** Default: the database's clock. Torture tests pass wrong ones. */
    readonly clock?: FollowingClock
  },
): Promise<Running & { readonly address: string; readonly metrics: App['metrics'] }> {
  const clock = options.clock ?? followDatabaseClock(options.pool)
  await clock.ready
  const { address, settings, log, otherMetrics, searchTimeout, storage, name = null, others = [] } = options
  const followed = others.map((database) => ({ ...database, clock: followDatabaseClock(database.pool) }))
  const databases = [{ name, address }, ...others].map((one) => ({ name: one.name, address: one.address }))
  // With a clock of its own, the API serves everything itself, so that one clock applies.
  const offloadThread =
    options.clock === undefined
      ? createOffloadThread({ databases, settings, searchTimeout, storage, logLevel: log.level }, log)
      : null
  const { server, shards, metrics, moved } = createApp({
    ...options,
    others: await Promise.all(followed.map(whenItsTimeIsKnown)),
    ...(offloadThread && { offload: offloadThread.offload, offloadWaiting: offloadThread.waiting }),
    otherMetrics: async () =>
      (await Promise.all([otherMetrics?.() ?? [], offloadThread?.metrics() ?? []])).flat(),
    clock,
    maxClockSkew,
  })
  await listen(server, where)
  let isStopping = false
  /** The server does not wait for work of disconnected clients, which still needs the database. */
  const closed = async () => {
    await server.close()
    await Promise.all([...shards.map((shard) => shard.idle()), offloadThread?.idle()])
  }
  const listeners = shards.map(({ readers, maintenance }, place) => {
    const database = others[place - 1]
    if (database === undefined) maintenance.start()
    else void database.ready.then(() => isStopping || maintenance.start())
    return startStreamListener(readers, database?.address ?? address, log, database?.name)
  })
  if (others.length > 0) listeners.push(followDirectory(address, moved, log))
  return {
    address: addressOf(server.server.address()),
    metrics,
    async stop() {
      isStopping = true
      const late = setTimeout(() => server.server.closeAllConnections(), requestsEndWithin)
      await atMost(
        stopMilliseconds,
        Promise.all([closed(), ...shards.map((shard) => shard.maintenance.stop())]),
      )
      clearTimeout(late)
      await Promise.all([...listeners.map((listener) => listener.close()), offloadThread?.stop()])
      for (const each of [clock, ...followed.map((database) => database.clock)]) each.stop()
    },
  }
}

/** Milliseconds that a start waits for the time of a database that is ready. */
const clockWithin = 5_000

/** The database, ready only once its time is known: before that, `now` would be this machine's time. */
async function whenItsTimeIsKnown<D extends ServedDatabase & { readonly clock: FollowingClock }>(
  database: D,
): Promise<D> {
  let isKnown = false
  const known = database.clock.ready.then(() => {
    isKnown = true
  })
  if (database.isReady()) await atMost(clockWithin, known)
  return { ...database, isReady: () => isKnown && database.isReady() }
}

function followDirectory(address: DatabaseAddress, moved: App['moved'], log: Logger) {
  return listenTo(
    address,
    directoryChannel,
    (organizationId) => moved(organizationId === '' ? null : organizationId),
    (error) =>
      log.warn(
        { reason: error.message },
        'moves of organizations cannot be heard of for now; databases report them',
      ),
  )
}
