/**
 * Warns of failing endpoints and disables them, one at a time of an organization. Disabling takes the organization's
 * clock row, which a long commit may hold: the call then gives up its connection and tries again, so that one
 * organization does not keep the worker's connections from others. What is not done when the worker stops is found
 * again at the endpoint's next failed attempt.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { loggable } from '../../kernel/log.ts'
import { LruMap } from '../../kernel/lru-map.ts'
import type { KeyedQueue } from '../../kernel/shared-work.ts'
import { type Clock, formatTimestamp } from '../../kernel/timestamps.ts'
import {
  type AttemptResult,
  type DeliveryObserver,
  type DeliverySchedule,
  type EndpointKey,
  keyOf,
} from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import { hasFailedTooLong, warningStage } from '../verdict.ts'
import type { EndpointQueues } from './endpoint-queues.ts'

const { rememberedWarnings, warnAt, busyPause } = deliveryTuning.disabling

interface Finding {
  readonly endpoint: EndpointKey
  /** The URL that was tried, if the reason concerns only that URL. */
  readonly tried: string | null
  readonly reason: string
  readonly at: number
}

interface Request {
  readonly finding: Finding
  waiting: PromiseWithResolvers<boolean>
}

export type DisablePolicy = ReturnType<typeof createDisablePolicy>

export function createDisablePolicy(services: {
  readonly queues: Pick<EndpointQueues, 'disable'>
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  readonly observer: DeliveryObserver
  /** Runs one call at a time of those that take an organization's clock row. */
  readonly exclusiveTasks: KeyedQueue
  readonly onDisabled: () => void
}) {
  const { queues, clock, schedule, log, observer, exclusiveTasks, onDisabled } = services
  const stopped = new AbortController()
  /** By organization, then by endpoint and reason. While an organization has requests, its `work` runs. */
  const requests = new Map<string, Map<string, Request>>()
  /** By endpoint: since when it fails, and the stage that was logged. */
  const warned = new LruMap<string, string>(rememberedWarnings)

  return { apply, disable, stop: () => stopped.abort() }

  /**
   * Applies completed results to their endpoint: disables it if they say so and returns the reason, else null; logs a
   * warning before it would be disabled. Pending deliveries are left to the next drain, as some may be under way. Times
   * in milliseconds since the Unix epoch;
   * `failingSince` is null while the endpoint does not fail.
   */
  async function apply(
    endpoint: EndpointKey,
    results: readonly AttemptResult[],
    failingSince: number | null,
    now: number,
  ): Promise<string | null> {
    // The endpoint's URL may have changed between two results.
    const final = new Map(
      results.flatMap(({ verdict, url }) => (verdict.disable === null ? [] : [[url, verdict.disable]])),
    )
    for (const [url, reason] of final) {
      if (await disable({ endpoint, tried: url, reason, at: now })) return reason
    }
    if (hasFailedTooLong(failingSince, now, schedule.disableAfter))
      return (await disable({ endpoint, tried: null, reason: 'failing', at: now })) ? 'failing' : null
    warn(endpoint, failingSince, now)
    return null
  }

  /** Logs once for each stage of a period of failure. */
  function warn(endpoint: EndpointKey, failingSince: number | null, now: number): void {
    const { disableAfter } = schedule
    const stage = warningStage(failingSince, now, disableAfter, warnAt)
    if (stage === null || failingSince === null) return
    const key = keyOf(endpoint)
    const warning = `${failingSince} ${stage}`
    if (warned.get(key) === warning) return
    warned.set(key, warning)
    const { organizationId, webhookId } = endpoint
    const times = {
      failingSince: formatTimestamp(failingSince),
      disabledFrom: formatTimestamp(failingSince + disableAfter),
    }
    log.warn({ organizationId, webhookId, ...times }, 'an endpoint keeps failing and is about to be disabled')
  }

  /**
   * Whether this call disabled the endpoint. If the clock row is busy, it is tried again, and `onDisabled` is called.
   */
  function disable(finding: Finding): Promise<boolean> {
    const { organizationId, webhookId } = finding.endpoint
    const idle = !requests.has(organizationId)
    const queue = requests.get(organizationId) ?? new Map<string, Request>()
    requests.set(organizationId, queue)
    const key = `${webhookId} ${finding.reason} ${finding.tried}`
    const request = queue.get(key) ?? { finding, waiting: Promise.withResolvers<boolean>() }
    queue.set(key, request)
    if (idle) void work(organizationId, queue)
    return request.waiting.promise
  }

  async function work(organizationId: string, queue: Map<string, Request>): Promise<void> {
    for (const [key, request] of queue) {
      let outcome = await attempt(organizationId, request)
      while (outcome === 'busy' && !stopped.signal.aborted) {
        // Release every drain that waits: the clock row is busy for all of them.
        for (const other of queue.values()) {
          other.waiting.resolve(false)
          other.waiting = Promise.withResolvers()
        }
        await delay(busyPause, undefined, { signal: stopped.signal }).catch(() => {})
        outcome = await attempt(organizationId, request)
      }
      queue.delete(key)
      request.waiting.resolve(outcome === true)
    }
    requests.delete(organizationId)
  }

  /** Never rejects: an endpoint that still fails is found again. */
  async function attempt(organizationId: string, { finding }: Request): Promise<boolean | 'busy'> {
    const { endpoint, tried, reason, at } = finding
    try {
      const outcome = await exclusiveTasks.run(organizationId, () =>
        queues.disable(endpoint, tried, reason, clock.now(), at - schedule.disableAfter),
      )
      if (outcome === true) {
        observer.disabled(reason)
        log.warn({ ...endpoint, reason }, 'an endpoint was disabled')
        onDisabled()
      }
      return outcome
    } catch (error) {
      log.warn({ ...endpoint, reason, err: loggable(error as Error) }, 'an endpoint could not be disabled')
      return false
    }
  }
}
