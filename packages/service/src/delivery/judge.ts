/** What settled results mean for their endpoint: whether it is disabled, or about to be. */
import type { FastifyBaseLogger } from 'fastify'
import type { Alarm } from './alarm.ts'
import { hasFailedTooLong } from './decide.ts'
import type { AttemptResult, LaneKey, Lanes } from './lanes.ts'
import type { DeliveryObserver } from './observer.ts'
import type { DeliverySchedule } from './schedule.ts'

interface JudgeServices {
  readonly lanes: Lanes
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  readonly observer: DeliveryObserver
  readonly alarm: Alarm
}

/** An endpoint whose registrant is gone is disabled, and says so. */
export async function disableRevoked(
  services: Omit<JudgeServices, 'alarm'>,
  lane: LaneKey,
  now: number,
): Promise<void> {
  await disable(services, lane, null, 'registrant_revoked', now)
}

/**
 * Disables the endpoint when its results say so; answers why, or null. What is pending then is left to the lane's next turn, as
 * some may be under way. Times in milliseconds since the Unix epoch; `failingSince` is null while it does not fail.
 */
export async function judge(
  services: JudgeServices,
  lane: LaneKey,
  results: readonly AttemptResult[],
  failingSince: number | null,
  now: number,
): Promise<string | null> {
  const { schedule, log, alarm } = services
  // The endpoint may have been given another URL between two of them.
  const notPublic = new Set(results.flatMap(({ verdict, url }) => (verdict.disable === null ? [] : [url])))
  for (const url of notPublic) {
    if (await disable(services, lane, url, 'address_not_public', now)) return 'address_not_public'
  }
  if (!hasFailedTooLong(failingSince, now, schedule.disableAfter)) {
    const { organizationId, webhookId } = lane
    const warning = alarm.warning(lane, failingSince, now, schedule.disableAfter)
    if (warning !== null)
      log.warn(
        { organizationId, webhookId, ...warning },
        'an endpoint keeps failing and is about to be disabled',
      )
    return null
  }
  return (await disable(services, lane, null, 'failing', now)) ? 'failing' : null
}

/** Whether this did it: not when the endpoint has changed, and what was found holds no more. */
async function disable(
  { lanes, schedule, log, observer }: Omit<JudgeServices, 'alarm'>,
  lane: LaneKey,
  tried: string | null,
  reason: string,
  now: number,
): Promise<boolean> {
  const done = await lanes.disable(lane, tried, reason, now, now - schedule.disableAfter)
  if (!done) return false
  const { organizationId, webhookId } = lane
  observer.disabled(reason)
  log.warn({ organizationId, webhookId, reason }, 'an endpoint was disabled')
  return true
}
