/**
 * Periodic maintenance: erases removed objects from payloads and stored responses (specification 4.9) and clears references to them,
 * deletes expired stored responses, creates and drops partitions of the log, and logs organizations near their storage limit. Every step
 * can be repeated, and run in several processes.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { noLimits, type StorageLimits } from '../journal/change.ts'
import { loggable } from '../kernel/loggable.ts'
import { periodic } from '../kernel/periodic.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { trimCommits } from './commits.ts'
import { deleteStoredResponses, detachPayloads, erasePayloads } from './erasure.ts'
import { dropLogWeeks, makeLogWeeks, removeStrays, weeksText } from './log-weeks.ts'
import { removeConsoleLinks, removeOrphans, removeRecoveries } from './orphans.ts'
import { nearLimits } from './storage.ts'

/** Milliseconds from the end of a run to the next: an erasure may take a day. */
const interval = 10 * 60 * 1000
/** Milliseconds for which an ended session is reported as ended and not as unknown. */
const endedSessionsKept = 24 * 60 * 60 * 1000
/** Milliseconds that a stop waits for the running statement, which then ends with the pool. */
const stopWithin = 5_000

export type Maintenance = ReturnType<typeof createMaintenance>

export function createMaintenance(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  /** How far back the delivery log goes, in milliseconds. */
  readonly logRetention: number
  readonly storage?: StorageLimits
  /** More steps, by name. */
  readonly also?: Readonly<Record<string, () => Promise<void>>>
  /** Called after each step. */
  readonly onStep?: (step: string, hasFailed: boolean) => void
}) {
  const { pool, clock, log, logRetention, storage = noLimits, also = {}, onStep = () => {} } = options

  /** A step that fails is tried again in the next run, and keeps no other from running. */
  async function runOn(pool: Pool, signal?: AbortSignal): Promise<void> {
    const steps: Readonly<Record<string, () => Promise<void>>> = {
      // First, because commits need it.
      make_log_weeks: () => makeWeeks(pool),
      erase_payloads: () => erasePayloads(pool, clock),
      detach_payloads: () => detachPayloads(pool),
      trim_commits: () => trimCommits(pool),
      delete_responses: () => deleteStoredResponses(pool, clock),
      remove_orphans: () => removeOrphans(pool),
      remove_recoveries: () => removeRecoveries(pool, clock.now() - logRetention),
      remove_console_links: () => removeConsoleLinks(pool, clock.now() - endedSessionsKept),
      drop_log_weeks: () => dropLogWeeks(pool, clock.now(), logRetention),
      remove_strays: () => removeStrays(pool, clock.now(), logRetention),
      check_storage: () => warnNearLimits(pool),
      ...also,
    }
    for (const [step, run] of Object.entries(steps)) {
      const failure = await run().then(
        () => null,
        (error: Error) => error,
      )
      if (signal?.aborted) return
      onStep(step, failure !== null)
      if (failure !== null)
        log.warn({ step, err: loggable(failure) }, 'a step of maintenance failed; it will be tried again')
    }
  }

  async function makeWeeks(pool: Pool): Promise<void> {
    const missing = await makeLogWeeks(pool, clock.now())
    if (missing.length > 0)
      log.warn(
        { missing: weeksText(missing) },
        'partitions of the log could not be made; they will be tried again',
      )
  }

  async function warnNearLimits(pool: Pool): Promise<void> {
    for (const { organizationId, rows, bytes } of await nearLimits(pool, storage)) {
      const used = { rows, maxRows: storage.rows, bytes, maxBytes: storage.bytes }
      log.warn({ organizationId, ...used }, 'an organization has 80 % or more of what it may store')
    }
  }

  const loop = periodic({
    every: interval,
    stopWithin,
    run: (signal) => runOn(untilAborted(pool, signal), signal),
    onFailure: (error) => log.warn({ err: loggable(error) }, 'maintenance failed; it will be tried again'),
  })
  /** `start`: runs repeatedly until stopped, one run at a time. */
  return { run: () => runOn(pool), start: loop.start, stop: loop.stop }
}

/** The same pool, which starts no statement after the signal. */
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
