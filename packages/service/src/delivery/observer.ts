/** What a worker tells of what it does, to whoever counts. Nothing here names an endpoint. */
import type { DeliveryErrorCode } from './decide.ts'
import type { AttemptResult } from './lanes.ts'

export interface DeliveryObserver {
  /** An attempt was made. */
  attempted(attempt: {
    readonly outcome: 'succeeded' | DeliveryErrorCode
    readonly durationMs: number
    /** Of a first attempt, milliseconds since its change was committed; otherwise null. */
    readonly waitedMs: number | null
  }): void
  /** An endpoint was disabled. */
  disabled(reason: string): void
}

export const nobodyObserves: DeliveryObserver = { attempted() {}, disabled() {} }

/** Tells of a result, if an attempt was made. */
export function tell(observer: DeliveryObserver, result: AttemptResult): void {
  const { verdict, durationMs, startedAt, delivery } = result
  if (!verdict.attempted) return
  const committedAt = Date.parse(delivery.event.createdAt)
  observer.attempted({
    outcome: verdict.error?.code ?? 'succeeded',
    durationMs,
    // Stamps may be a little ahead of the clock.
    waitedMs: delivery.attemptCount > 0 ? null : Math.max(0, startedAt - committedAt),
  })
}
