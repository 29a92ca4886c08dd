/** Keeps readers that wait awake: commits are told by notification, and a poll behind it. */
import type { FastifyBaseLogger } from 'fastify'
import { listen } from '../db/listen.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { decodeNotification, streamChannel } from '../journal/notifier.ts'
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import { loggable } from '../kernel/loggable.ts'
import { periodic } from '../kernel/periodic.ts'

/** How often to look without being told, in milliseconds; a writer that died before it told delays nobody longer. */
const pollEvery = 1_000
/** A stop waits no longer for the query under way, in milliseconds; it is ended with its pool. */
const stopWithin = 1_000

/** One connection and one query a second, however many wait. `close` ends both. `database`: its name among several. */
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
