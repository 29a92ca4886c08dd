/** What a worker tells of what it does, to whoever counts. Nothing here names an endpoint. */
import type { DeliveryErrorCode } from './decide.ts'
import type { AttemptResult } from './lanes.ts'

export interface DeliveryObserver {
  /** An attempt was made. */
  attempted(attempt: {
    readonly outcome: 'succeeded' | DeliveryErrorCode
    readonly durationMs: number
    /**
     * Of a first attempt, milliseconds since its delivery was made, or begun anew; otherwise null. Not since its event: what
     * a recovery makes is of weeks ago.
     */
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
  observer.attempted({
    outcome: verdict.error?.code ?? 'succeeded',
    durationMs,
    // It may have been made by a process whose clock is a little ahead.
    waitedMs: delivery.attemptCount > 0 ? null : Math.max(0, startedAt - delivery.dueAt),
  })
}
