/** What settled results mean for their endpoint: whether it is disabled, or about to be. */
import type { FastifyBaseLogger } from 'fastify'
import type { Alarm } from './alarm.ts'
import { hasFailedTooLong } from './decide.ts'
import type { AttemptResult, Lanes, Taken } from './lanes.ts'
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
  taken: Taken,
  now: number,
): Promise<void> {
  await disable(services, taken, 'registrant_revoked', now)
}

/**
 * Disables the endpoint when its results say so, and fails what is pending; answers why, or null. Times in milliseconds
 * since the Unix epoch; `failingSince` is null while it does not fail.
 */
export async function judge(
  services: JudgeServices,
  taken: Taken,
  results: readonly AttemptResult[],
  failingSince: number | null,
  now: number,
): Promise<string | null> {
  const { lanes, schedule, log, alarm } = services
  const notPublic = results.some(({ verdict }) => verdict.disable !== null)
  const reason = notPublic
    ? 'address_not_public'
    : hasFailedTooLong(failingSince, now, schedule.disableAfter)
      ? 'failing'
      : null
  if (reason === null) {
    const { organizationId, webhookId } = taken
    const warning = alarm.warning(taken, failingSince, now, schedule.disableAfter)
    if (warning !== null)
      log.warn(
        { organizationId, webhookId, ...warning },
        'an endpoint keeps failing and is about to be disabled',
      )
    return null
  }
  if (!(await disable(services, taken, reason, now))) return null
  await lanes.failPending(taken, reason, now)
  return reason
}

/** Whether this did it: not when the endpoint has changed, and what was found holds no more. */
async function disable(
  { lanes, schedule, log, observer }: Omit<JudgeServices, 'alarm'>,
  taken: Taken,
  reason: string,
  now: number,
): Promise<boolean> {
  const done = await lanes.disable(taken, reason, now, now - schedule.disableAfter)
  if (!done) return false
  const { organizationId, webhookId } = taken
  observer.disabled(reason)
  log.warn({ organizationId, webhookId, reason }, 'an endpoint was disabled')
  return true
}
