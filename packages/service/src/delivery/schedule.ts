/** The settings that say when to try again and when to give up (specification 10.4). */
export interface DeliverySchedule {
  /** One a retry, in milliseconds. */
  readonly retryDelays: readonly number[]
  /** Continuous failure before an endpoint is disabled, in milliseconds. */
  readonly disableAfter: number
  /** A whole attempt, in milliseconds. */
  readonly answerTimeout: number
}

/** Attempts that a delivery has: the first, and one a delay. */
export function attemptsOf(schedule: Pick<DeliverySchedule, 'retryDelays'>): number {
  return schedule.retryDelays.length + 1
}

/** How long a worker holds a lane without a sign of life, in milliseconds (specification 10.6). */
export function leaseOf({ answerTimeout }: DeliverySchedule): number {
  return answerTimeout + 5_000
}
