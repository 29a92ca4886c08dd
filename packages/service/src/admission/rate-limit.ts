/**
 * Token buckets that limit a key, or a network without a valid key (specification 14.1), in each process by itself. The
 * deficit is counted in thousandths of a request, in whole numbers, so that nothing is lost to rounding. Full buckets
 * are dropped.
 */
import { LruMap } from '../kernel/lru-map.ts'
import type { Clock } from '../kernel/timestamps.ts'

/** Whole numbers, at least 1. */
export interface RateLimit {
  readonly perSecond: number
  /** Requests at once when the bucket is full. */
  readonly burst: number
}

export interface Quota {
  readonly allowed: boolean
  /** Requests that are allowed at once now. */
  readonly remaining: number
  /** Milliseconds until a request is allowed again; 0 while some are left. */
  readonly retryAfter: number
  /** Milliseconds until the bucket is full. */
  readonly fullAfter: number
  readonly limit: RateLimit
}

export interface RateLimiter {
  /** Counts a request of `who`, sent at `at` (default: now), if it is allowed; a refused one is not counted. */
  count(who: string, at?: number): Quota
  refund(who: string): void
  /** The state for `who` without counting a request; `allowed`: whether one would be. */
  peek(who: string): Quota
  readonly size: number
}

/** For requests of one network without a valid key: one page load makes about a dozen. */
export const unauthenticatedLimit: RateLimit = { perSecond: 300, burst: 600 }

interface Bucket {
  readonly missing: number
  /** The time of `missing`, in milliseconds since the Unix epoch. */
  readonly at: number
}

/** A request, in thousandths. */
const request = 1_000

/** The least recently used bucket is dropped first. */
const rememberedAtMost = 100_000

export function createRateLimiter(limit: RateLimit, clock: Clock): RateLimiter {
  const { perSecond, burst } = limit
  const buckets = new LruMap<string, Bucket>(rememberedAtMost)

  function missingNow(bucket: Bucket | undefined, now: number): number {
    if (bucket === undefined) return 0
    // Time does not run backwards when the clock is set back.
    return Math.max(0, bucket.missing - Math.max(0, now - bucket.at) * perSecond)
  }

  function quota(missing: number, allowed: boolean): Quota {
    const left = burst * request - missing
    const remaining = Math.floor(left / request)
    return {
      allowed,
      remaining,
      retryAfter: remaining > 0 ? 0 : Math.ceil((request - left) / perSecond),
      fullAfter: Math.ceil(missing / perSecond),
      limit,
    }
  }

  /** Drops full buckets, the least recently used first. */
  function forget(now: number): void {
    for (const [who, bucket] of buckets) {
      if (missingNow(bucket, now) > 0) return
      buckets.delete(who)
    }
  }

  return {
    count(who, now = clock.now()) {
      const before = missingNow(buckets.get(who), now)
      const state = quota(before, before + request <= burst * request)
      if (!state.allowed) {
        // Stored with the current time, so that the bucket refills even if the clock was set back.
        buckets.set(who, { missing: before, at: now })
        return state
      }
      buckets.set(who, { missing: before + request, at: now })
      forget(now)
      return quota(before + request, true)
    },
    refund(who) {
      const bucket = buckets.get(who)
      if (bucket === undefined) return
      buckets.set(who, { ...bucket, missing: Math.max(0, bucket.missing - request) })
    },
    peek(who) {
      const missing = missingNow(buckets.get(who), clock.now())
      return quota(missing, missing + request <= burst * request)
    },
    get size() {
      return buckets.size
    },
  }
}
