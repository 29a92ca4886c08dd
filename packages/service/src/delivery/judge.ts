/** What settled results mean for their endpoint: whether it is disabled, or about to be. */
import type { FastifyBaseLogger } from 'fastify'
import type { Alarm } from './alarm.ts'
import { hasFailedTooLong } from './decide.ts'
import type { Disabler } from './disabler.ts'
import type { AttemptResult, LaneKey } from './lanes.ts'
import type { DeliverySchedule } from './schedule.ts'

interface JudgeServices {
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  readonly alarm: Alarm
  readonly disabler: Disabler
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
  const { schedule, log, alarm, disabler } = services
  // The endpoint may have been given another URL between two of them.
  const notPublic = new Set(results.flatMap(({ verdict, url }) => (verdict.disable === null ? [] : [url])))
  for (const url of notPublic) {
    const reason = 'address_not_public'
    if (await disabler.disable({ lane, tried: url, reason, at: now })) return reason
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
  return (await disabler.disable({ lane, tried: null, reason: 'failing', at: now })) ? 'failing' : null
}
