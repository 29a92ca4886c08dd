/**
 * How often a key may call: a bucket that holds `burst` requests and is filled at `perSecond`. A bucket is one number,
 * the time at which it will be full again (the generic cell rate algorithm), and a full one is forgotten, so that
 * memory is held only by those who called within the last `burst / perSecond` seconds.
 *
 * Buckets belong to a process: with several of them behind a balancer a key may do as much in each.
 */
import type { Clock } from '../kernel/clock.ts'

export interface RateLimit {
  readonly perSecond: number
  /** Requests that may come at once after a rest; at least 1. */
  readonly burst: number
}

/** What is left of a limit after a request was counted, or was not. */
export interface Quota {
  readonly allowed: boolean
  /** Requests that may be made at once from here. */
  readonly remaining: number
  /** Milliseconds until a request may be made again; 0 while some are left. */
  readonly retryAfter: number
  /** Milliseconds until all of the burst is there again. */
  readonly fullAfter: number
  readonly limit: RateLimit
}

export interface RateLimiter {
  /** Counts a request of `who`, if it may be made. One that may not costs nothing. */
  count(who: string): Quota
  /** How `who` stands, without counting anything. */
  look(who: string): Quota
  /** Buckets that are remembered. */
  readonly size: number
}

/** The strictest bound on what is remembered, whoever calls. The least recently counted is forgotten first. */
const rememberedAtMost = 100_000

/** Buckets under one limit, as many as there are callers. */
export function createRateLimiter(limit: RateLimit, clock: Clock): RateLimiter {
  const interval = 1_000 / limit.perSecond
  const window = interval * limit.burst
  /** When each bucket will be full, in milliseconds since the Unix epoch; the least recently counted first. */
  const fullAt = new Map<string, number>()

  function stand(who: string, now: number): number {
    // Never further away than a whole burst: a clock that was set back is no reason to wait longer.
    return Math.min(Math.max(fullAt.get(who) ?? now, now), now + window)
  }

  function quota(full: number, now: number, allowed: boolean): Quota {
    // A sum of many intervals is off by some billionths.
    const remaining = Math.max(0, Math.floor((now + window - full) / interval + 1e-6))
    const retryAfter = remaining > 0 ? 0 : full + interval - window - now
    return { allowed, remaining, retryAfter, fullAfter: full - now, limit }
  }

  /** Forgets, from the front, what is full again: what stands before it has waited longer. */
  function forget(now: number): void {
    for (const [who, full] of fullAt) {
      if (full > now && fullAt.size <= rememberedAtMost) return
      fullAt.delete(who)
    }
  }

  return {
    count(who) {
      const now = clock.now()
      const before = stand(who, now)
      if (quota(before, now, true).remaining === 0) {
        // What a clock that was set back made too late is kept as it counts now.
        fullAt.set(who, before)
        return quota(before, now, false)
      }
      const full = before + interval
      // To the end, so that the front is the least recently counted.
      fullAt.delete(who)
      fullAt.set(who, full)
      forget(now)
      return quota(full, now, true)
    },
    look(who) {
      const now = clock.now()
      const full = stand(who, now)
      const standing = quota(full, now, true)
      return { ...standing, allowed: standing.remaining > 0 }
    },
    get size() {
      return fullAt.size
    },
  }
}
