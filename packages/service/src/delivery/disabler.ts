/**
 * Disables endpoints, one at a time of an organization: that takes its clock row, which a long commit may hold. Who would wait
 * for it for long gives way and tries again until it is done, so that a commit of one organization keeps no connections of the
 * worker from all others. What is not done when the worker stops or dies is found again at the endpoint's next failed attempt.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
import type { KeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import type { LaneKey, Lanes } from './lanes.ts'
import type { DeliveryObserver } from './observer.ts'
import type { DeliverySchedule } from './schedule.ts'

/** How long to leave an organization alone whose clock row others hold, in milliseconds. */
const pause = 250

export interface Finding {
  readonly lane: LaneKey
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

export interface Disabler {
  /**
   * Whether the endpoint is disabled by it: not when it has changed, and what was found holds no more. Also not when others hold
   * the clock row: then it is tried again until it is decided, and `onDisabled` is called.
   */
  disable(finding: Finding): Promise<boolean>
  /** Tries nothing again any more. */
  stop(): void
}

export function createDisabler(services: {
  readonly lanes: Lanes
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  readonly observer: DeliveryObserver
  /** Calls that take an organization's clock row, one at a time of each. */
  readonly clockTurns: KeyedQueue
  /** What is pending on an endpoint has to fail. */
  readonly onDisabled: () => void
}): Disabler {
  const { lanes, clock, schedule, log, observer, clockTurns, onDisabled } = services
  const stopped = new AbortController()
  /** Of each organization by endpoint and reason; as long as there are some, its `work` goes on. */
  const requests = new Map<string, Map<string, Request>>()

  return {
    disable(finding) {
      const { organizationId, webhookId } = finding.lane
      const idle = !requests.has(organizationId)
      const queue = requests.get(organizationId) ?? new Map<string, Request>()
      requests.set(organizationId, queue)
      const key = `${webhookId} ${finding.reason} ${finding.tried}`
      const request = queue.get(key) ?? { finding, waiting: Promise.withResolvers<boolean>() }
      queue.set(key, request)
      if (idle) void work(organizationId, queue)
      return request.waiting.promise
    },
    stop: () => stopped.abort(),
  }

  async function work(organizationId: string, queue: Map<string, Request>): Promise<void> {
    for (const [key, request] of queue) {
      let came = await attempt(organizationId, request)
      while (came === 'busy' && !stopped.signal.aborted) {
        // Nobody else of the organization needs to find that out, and no turn to wait for it.
        for (const other of queue.values()) {
          other.waiting.resolve(false)
          other.waiting = Promise.withResolvers()
        }
        await delay(pause, undefined, { signal: stopped.signal }).catch(() => {})
        came = await attempt(organizationId, request)
      }
      queue.delete(key)
      request.waiting.resolve(came === true)
    }
    requests.delete(organizationId)
  }

  /** Never rejects: what fails is found again as what is not done is. */
  async function attempt(organizationId: string, { finding }: Request): Promise<boolean | 'busy'> {
    const { lane, tried, reason, at } = finding
    try {
      const came = await clockTurns.run(organizationId, () =>
        lanes.disable(lane, tried, reason, clock.now(), at - schedule.disableAfter),
      )
      if (came === true) {
        observer.disabled(reason)
        log.warn({ ...lane, reason }, 'an endpoint was disabled')
        onDisabled()
      }
      return came
    } catch (error) {
      log.warn({ ...lane, reason, err: loggable(error as Error) }, 'an endpoint could not be disabled')
      return false
    }
  }
}
