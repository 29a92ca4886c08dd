/**
 * When an endpoint is warned of and when it is disabled. Endpoints are disabled one at a time of an organization: that takes its
 * clock row, which a long commit may hold. Who would wait for it for long gives way and tries again until it is done, so that a
 * commit of one organization keeps no connections of the worker from all others. What is not done when the worker stops or dies
 * is found again at the endpoint's next failed attempt.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { KeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { hasFailedTooLong, warningStage } from './decide.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import {
  type AttemptResult,
  type DeliveryObserver,
  type DeliverySchedule,
  type EndpointKey,
  keyOf,
} from './model.ts'
import type { DisableTuning } from './tuning.ts'

interface Finding {
  readonly endpoint: EndpointKey
  /** The URL that was tried, where the reason is of the URL alone. */
  readonly tried: string | null
  readonly reason: string
  /** When it was found, in milliseconds since the Unix epoch. */
  readonly at: number
}

interface Request {
  readonly finding: Finding
  /** Those who wait for the next try. */
  waiting: PromiseWithResolvers<boolean>
}

export interface DisablePolicy {
  /**
   * What completed results mean for their endpoint. Disables it when they say so, and answers why, or null; warns in the log when
   * it is about to be. What is pending then is left to the next drain, as some may be under way. Times in milliseconds since the
   * Unix epoch; `failingSince` is null while it does not fail.
   */
  apply(
    endpoint: EndpointKey,
    results: readonly AttemptResult[],
    failingSince: number | null,
    now: number,
  ): Promise<string | null>
  /**
   * Whether the endpoint is disabled by it: not when it has changed, and what was found holds no more. Also not when others hold
   * the clock row: then it is tried again until it is decided, and `onDisabled` is called.
   */
  disable(finding: Finding): Promise<boolean>
  /** Tries nothing again any more. */
  stop(): void
}

export function createDisablePolicy(services: {
  readonly queues: Pick<EndpointQueues, 'disable'>
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  readonly observer: DeliveryObserver
  /** Calls that take an organization's clock row, one at a time of each. */
  readonly exclusiveTasks: KeyedQueue
  readonly tuning: DisableTuning
  /** What is pending on an endpoint has to fail. */
  readonly onDisabled: () => void
}): DisablePolicy {
  const { queues, clock, schedule, log, observer, exclusiveTasks, tuning, onDisabled } = services
  const stopped = new AbortController()
  /** Of each organization by endpoint and reason; as long as there are some, its `work` goes on. */
  const requests = new Map<string, Map<string, Request>>()
  /** By endpoint, since when it fails and the stage that the log has warned of. */
  const warned = new LruMap<string, string>(tuning.rememberedWarnings)

  return { apply, disable, stop: () => stopped.abort() }

  async function apply(
    endpoint: EndpointKey,
    results: readonly AttemptResult[],
    failingSince: number | null,
    now: number,
  ): Promise<string | null> {
    // The endpoint may have been given another URL between two of them.
    const notPublic = new Set(results.flatMap(({ verdict, url }) => (verdict.disable === null ? [] : [url])))
    for (const url of notPublic) {
      const reason = 'address_not_public'
      if (await disable({ endpoint, tried: url, reason, at: now })) return reason
    }
    if (hasFailedTooLong(failingSince, now, schedule.disableAfter))
      return (await disable({ endpoint, tried: null, reason: 'failing', at: now })) ? 'failing' : null
    warn(endpoint, failingSince, now)
    return null
  }

  /** Once a stage for each time that an endpoint fails. */
  function warn(endpoint: EndpointKey, failingSince: number | null, now: number): void {
    const { disableAfter } = schedule
    const stage = warningStage(failingSince, now, disableAfter, tuning.warnAt)
    if (stage === null || failingSince === null) return
    const key = keyOf(endpoint)
    const said = `${failingSince} ${stage}`
    if (warned.get(key) === said) return
    warned.set(key, said)
    const { organizationId, webhookId } = endpoint
    const times = {
      failingSince: formatTimestamp(failingSince),
      disabledFrom: formatTimestamp(failingSince + disableAfter),
    }
    log.warn({ organizationId, webhookId, ...times }, 'an endpoint keeps failing and is about to be disabled')
  }

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
      let came = await attempt(organizationId, request)
      while (came === 'busy' && !stopped.signal.aborted) {
        // Nobody else of the organization needs to find that out, and no drain to wait for it.
        for (const other of queue.values()) {
          other.waiting.resolve(false)
          other.waiting = Promise.withResolvers()
        }
        await delay(tuning.busyPause, undefined, { signal: stopped.signal }).catch(() => {})
        came = await attempt(organizationId, request)
      }
      queue.delete(key)
      request.waiting.resolve(came === true)
    }
    requests.delete(organizationId)
  }

  /** Never rejects: what fails is found again as what is not done is. */
  async function attempt(organizationId: string, { finding }: Request): Promise<boolean | 'busy'> {
    const { endpoint, tried, reason, at } = finding
    try {
      const came = await exclusiveTasks.run(organizationId, () =>
        queues.disable(endpoint, tried, reason, clock.now(), at - schedule.disableAfter),
      )
      if (came === true) {
        observer.disabled(reason)
        log.warn({ ...endpoint, reason }, 'an endpoint was disabled')
        onDisabled()
      }
      return came
    } catch (error) {
      log.warn({ ...endpoint, reason, err: loggable(error as Error) }, 'an endpoint could not be disabled')
      return false
    }
  }
}
