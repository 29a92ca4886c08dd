/**
 * What has to happen in time though nobody asks: payloads and stored responses of removed objects are erased
 * (specification 4.9), those of objects that referred to them lose the reference, responses stored for idempotency are
 * forgotten, weeks of the log are made ahead, and those that it shows no more are dropped; who has come near to what it
 * may store is told of. Every step can be repeated and done by any number of processes.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { noLimits, type StorageLimits } from '../journal/change.ts'
import { loggable } from '../kernel/loggable.ts'
import { periodic } from '../kernel/periodic.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { deleteStoredResponses, detachPayloads, erasePayloads } from './erasure.ts'
import { dropLogWeeks, makeLogWeeks, weeksText } from './log-weeks.ts'
import { removeConsoleLinks, removeOrphans, removeRecoveries } from './orphans.ts'
import { stepByStep } from './step.ts'
import { nearLimits } from './storage.ts'

/** Ten minutes from the end of a run to the next: well within the day that an erasure may take. */
const interval = 10 * 60 * 1000
/** For so long a session that is over is told so, in milliseconds, and is not just unknown. */
const endedSessionsKept = 24 * 60 * 60 * 1000
/** A stop waits no longer for the statement under way, in milliseconds; it is ended with the pool. */
const stopWithin = 5_000

export interface Maintenance {
  /** Does all that is due now. */
  run(): Promise<void>
  /** Runs it again and again until stopped, one run at a time. */
  start(): void
  /** Ends a run under way between two of its statements, and waits 5 s for it at most. */
  stop(): Promise<void>
}

export function createMaintenance(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  /** How far back the delivery log goes, in milliseconds. */
  readonly logRetention: number
  /** What an organization may store; as much as it likes unless told. */
  readonly storage?: StorageLimits
  /** What is to happen besides, at the end. */
  readonly also?: () => Promise<void>
}): Maintenance {
  const { pool, clock, log, logRetention, storage = noLimits, also = async () => {} } = options

  async function runOn(pool: Pool): Promise<void> {
    // First: nothing else here is waited for by commits.
    const missing = await makeLogWeeks(pool, clock.now())
    if (missing.length > 0)
      log.warn(
        { missing: weeksText(missing) },
        'partitions of the log could not be made; they will be tried again',
      )
    await stepByStep(() => erasePayloads(pool))
    await stepByStep(() => detachPayloads(pool))
    await stepByStep(() => deleteStoredResponses(pool, clock))
    await removeOrphans(pool)
    await removeRecoveries(pool, clock.now() - logRetention)
    await stepByStep(() => removeConsoleLinks(pool, clock.now() - endedSessionsKept))
    await dropLogWeeks(pool, clock.now(), logRetention)
    for (const { organizationId, rows, bytes } of await nearLimits(pool, storage)) {
      const used = { rows, maxRows: storage.rows, bytes, maxBytes: storage.bytes }
      log.warn({ organizationId, ...used }, 'an organization has 80 % or more of what it may store')
    }
    await also()
  }

  const loop = periodic({
    every: interval,
    stopWithin,
    run: (signal) => runOn(untilAborted(pool, signal)),
    onFailure: (error) => log.warn({ err: loggable(error) }, 'maintenance failed; it will be tried again'),
  })
  return { run: () => runOn(pool), start: loop.start, stop: loop.stop }
}

/** The same pool, on which nothing more is begun after the signal: every step can end between any two statements. */
function untilAborted(pool: Pool, signal: AbortSignal): Pool {
  const unlessAborted =
    (method: 'query' | 'connect') =>
    (...call: unknown[]) => {
      signal.throwIfAborted()
      return Reflect.apply(pool[method], pool, call)
    }
  return Object.assign(Object.create(pool) as Pool, {
    query: unlessAborted('query'),
    connect: unlessAborted('connect'),
  })
}
