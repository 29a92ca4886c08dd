/**
 * Token buckets that limit a key, or a network without a valid key (specification 14.1). A bucket holds `burst` requests and is filled at
 * `perSecond`. What it lacks is counted in thousandths of a request, of which `perSecond` come back in a millisecond: whole numbers, so that
 * nothing is lost to rounding. A full bucket is forgotten, so the memory is that of callers of the last `burst / perSecond` seconds.
 *
 * Each process has its own buckets: with several behind a load balancer a key may call each as often.
 */
import { LruMap } from '../kernel/lru-map.ts'
import type { Clock } from '../kernel/timestamps.ts'

/** Whole numbers, at least 1. */
export interface RateLimit {
  readonly perSecond: number
  /** Requests that may come at once when the bucket is full. */
  readonly burst: number
}

/** The state of a bucket. */
export interface Quota {
  /** Whether the request may be made. */
  readonly allowed: boolean
  /** Requests that may be made at once now. */
  readonly remaining: number
  /** Milliseconds until a request may be made again; 0 while some are left. */
  readonly retryAfter: number
  /** Milliseconds until the bucket is full. */
  readonly fullAfter: number
  readonly limit: RateLimit
}

export interface RateLimiter {
  /** Counts a request of `who`, if it is allowed. One that is not costs nothing. */
  count(who: string): Quota
  /** Takes back one count of `who`. */
  refund(who: string): void
  /** The state for `who` without counting a request; `allowed` says whether one would be. */
  look(who: string): Quota
  /** Buckets that are remembered. */
  readonly size: number
}

/** For requests of one network without a valid key: a page with all that it loads makes a dozen. */
export const unauthenticatedLimit: RateLimit = { perSecond: 300, burst: 600 }

interface Bucket {
  /** Thousandths of a request. */
  readonly missing: number
  /** When that was so, in milliseconds since the Unix epoch. */
  readonly at: number
}

/** Thousandths. */
const request = 1_000

/** Buckets that are remembered at most. The least recently used is forgotten first. */
const rememberedAtMost = 100_000

/** A bucket of this limit for each caller. */
export function createRateLimiter(limit: RateLimit, clock: Clock): RateLimiter {
  const { perSecond, burst } = limit
  /** The least recently used first. */
  const buckets = new LruMap<string, Bucket>(rememberedAtMost)

  function missingNow(bucket: Bucket | undefined, now: number): number {
    if (bucket === undefined) return 0
    // A clock that was set back changes nothing.
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

  /** Forgets full buckets, the least recently used first. */
  function forget(now: number): void {
    for (const [who, bucket] of buckets) {
      if (missingNow(bucket, now) > 0) return
      buckets.delete(who)
    }
  }

  return {
    count(who) {
      const now = clock.now()
      const before = missingNow(buckets.get(who), now)
      const state = quota(before, before + request <= burst * request)
      if (!state.allowed) {
        // As of now, so that time goes on from here though the clock was set back.
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
    look(who) {
      const missing = missingNow(buckets.get(who), clock.now())
      return quota(missing, missing + request <= burst * request)
    },
    get size() {
      return buckets.size
    },
  }
}
