/**
 * The state of a limit as headers: `RateLimit-Policy` says what the limit is, `RateLimit` what is left of it
 * (draft-ietf-httpapi-ratelimit-headers, structured fields), and `Retry-After` when to come again.
 */
import type { Quota, RateLimit } from '../access/rate-limit.ts'

/** `"default";q=500;w=5`: the burst, and the whole seconds in which all of it comes back. */
function policyOf({ burst, perSecond }: RateLimit): string {
  return `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`
}

/** What every answer to a key says of its limit. */
export function rateLimitHeaders(quota: Quota): Record<string, string> {
  return {
    'ratelimit-policy': policyOf(quota.limit),
    ratelimit: `"default";r=${quota.remaining};t=${Math.ceil(quota.fullAfter / 1_000)}`,
  }
}

/** Whole seconds, never too few. */
export function retryAfterSeconds({ retryAfter }: Quota): number {
  return Math.max(1, Math.ceil(retryAfter / 1_000))
}
