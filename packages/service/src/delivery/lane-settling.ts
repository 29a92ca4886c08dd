/** What a worker tells the database when it settles results. */
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { HealthChange } from './decide.ts'
import type { AttemptResult } from './lanes.ts'
import { type Tier, tiers } from './tiers.ts'

export interface Settling {
  readonly results: readonly AttemptResult[]
  readonly health: HealthChange
  /**
   * What becomes of the lane: it is let go, or kept; and if kept, whether its holder wants to hear of what comes in, as it
   * has attempts to spare, or looks again by itself.
   */
  readonly next: 'release' | 'listen' | 'hold'
  /** Where the lane waits when it is let go: a light or a heavy one in the one or the other, by its backlog. */
  readonly tier: Tier
  /** Ids of deliveries that its holder has taken and not settled yet. */
  readonly known: readonly string[]
}

/** As the settling function takes it: what is null of a result is left out, a quarter of one that succeeded. */
export function encodeSettling(settling: Settling): string {
  const at = (milliseconds: number | null) => (milliseconds === null ? null : formatTimestamp(milliseconds))
  return JSON.stringify({
    next: settling.next,
    tier: tiers.indexOf(settling.tier),
    known: settling.known,
    succeeded_at: at(settling.health.succeededAt),
    failures: settling.health.failures,
    failed_at: at(settling.health.failedAt),
    again: settling.results.some(({ delivery }) => delivery.attemptCount > 0),
    results: settling.results.map(({ delivery, verdict, ...result }) => ({
      id: delivery.id,
      number: delivery.attemptCount + 1,
      status: verdict.status,
      attempted: verdict.attempted,
      at: result.startedAt,
      ended_at: result.endedAt,
      response_status: result.responseStatus ?? undefined,
      response_body: result.responseBody ?? undefined,
      error_code: verdict.error?.code,
      error_message: verdict.error?.message,
      duration_ms: result.durationMs,
      next_attempt_at: verdict.nextAttemptAt ?? undefined,
    })),
  })
}
