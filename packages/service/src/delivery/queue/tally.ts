/**
 * Counts an endpoint's deliveries (specification 11.5): successes, failures by code, and how long attempts took. A
 * completion appends its counts to `delivery_stats` (`count-deliveries.sql`).
 *
 * A **tally** is an array with a count at each index. Indexes are stored, so they keep their meaning: add new ones at
 * the end.
 */
import type { AttemptResult, FailureCode } from '../model.ts'

/** Upper bounds of an attempt's duration in milliseconds, exclusive; the last bucket has what took longer. */
export const durationBounds: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000,
  7_000, 10_000, 15_000, 20_000, 30_000,
]

const succeededIndex = 0
const firstDurationIndex = 1
/** Failures come after the durations; add new codes at the end. */
export const failureIndexes = {
  timeout: 29,
  connection_failed: 30,
  tls_error: 31,
  redirect: 32,
  non_2xx: 33,
  address_not_public: 34,
  resolver_failed: 35,
  endpoint_disabled: 36,
  subject_unavailable: 37,
  worker_lost: 38,
  paused_too_long: 39,
  proxy_failed: 40,
} as const satisfies Record<FailureCode, number>
const indexCount = 41

export function meaningOf(
  index: number,
):
  | { readonly counts: 'succeeded' }
  | { readonly counts: 'failed'; readonly code: string }
  | { readonly counts: 'duration'; readonly bucket: number }
  | null {
  if (index === succeededIndex) return { counts: 'succeeded' }
  if (index <= durationBounds.length + firstDurationIndex)
    return { counts: 'duration', bucket: index - firstDurationIndex }
  const [code] = Object.entries(failureIndexes).find(([, at]) => at === index) ?? []
  return code === undefined ? null : { counts: 'failed', code }
}

export function tallyOf(results: readonly AttemptResult[]): readonly number[] {
  const tally = new Array<number>(indexCount).fill(0)
  const count = (index: number) => {
    tally[index] = (tally[index] as number) + 1
  }
  for (const { verdict, durationMs } of results) {
    const code = verdict.error?.code ?? null
    count(code === null ? succeededIndex : failureIndexes[code])
    // How long an attempt took is unknown if its worker died.
    if (verdict.attempted && code !== 'worker_lost') count(firstDurationIndex + bucketOf(durationMs))
  }
  return tally
}

/** The places of a tally with a count, and these counts. */
export function countsIn(tally: readonly number[]): {
  readonly places: readonly number[]
  readonly counts: readonly number[]
} {
  const places = tally.flatMap((count, place) => (count === 0 ? [] : [place]))
  return { places, counts: places.map((place) => tally[place] as number) }
}

function bucketOf(milliseconds: number): number {
  const bucket = durationBounds.findIndex((bound) => milliseconds < bound)
  return bucket === -1 ? durationBounds.length : bucket
}

/**
 * The duration in milliseconds that the given part of the attempts did not exceed; null without attempts. Interpolated
 * within its bucket up to `longest`, the timeout. `counts`: one for each bucket.
 */
export function quantile(counts: readonly number[], part: number, longest: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(all * part)
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = durationBounds[bucket - 1] ?? 0
      // The last bucket has no upper bound; a bucket beyond the timeout is from a time when the timeout was longer.
      const to = Math.max(from, Math.min(durationBounds[bucket] ?? from, longest))
      return Math.round(from + ((to - from) * left) / count)
    }
    left -= count
  }
  return null
}
