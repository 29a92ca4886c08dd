/** Wakes waiting readers: by notifications of commits, and by polling in case one is lost. */
import type { FastifyBaseLogger } from 'fastify'
import { listen } from '../db/listen.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { decodeNotification, streamChannel } from '../journal/notifier.ts'
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import { loggable } from '../kernel/log.ts'
import { periodic } from '../kernel/periodic.ts'

/** Milliseconds: the longest delay after a lost notification. */
const pollEvery = 1_000
/** Milliseconds that a stop waits for the running query, which then ends with its pool. */
const stopWithin = 1_000

/**
 * Uses one connection and one query a second for all readers; `close` ends both. `database`: its name among several.
 */
export function startStreamListener(
  readers: WaitingReaders,
  address: DatabaseAddress,
  log: FastifyBaseLogger,
  database: string | null = null,
): { close(): Promise<void> } {
  const of = database === null ? {} : { database }
  const complain = (error: Error) =>
    log.warn({ ...of, err: loggable(error) }, 'notifications of the stream cannot be received; trying again')
  const listener = listen(
    address,
    streamChannel,
    (payload) => readers.notify(decodeNotification(payload)),
    complain,
  )
  const polling = periodic({
    every: pollEvery,
    stopWithin,
    run: () => readers.poll(),
    onFailure: complain,
  })
  polling.start()
  return {
    async close() {
      await Promise.all([polling.stop(), listener.close()])
    },
  }
}
