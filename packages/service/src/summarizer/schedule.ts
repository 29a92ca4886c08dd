/** When a summary that could not be written is tried again. */

const minute = 60_000
const longest = 240 * minute

/** Attempts that a summary has: from the first to the last it is a day. */
export const maxAttempts = 14

/** A job that has given up is looked at so often, in milliseconds, for no more than whether it can go. */
export const lookAgainAfter = 24 * 60 * minute

/**
 * Milliseconds until the next attempt when `made` have failed, or null when there is none: a minute, twice as long
 * after each, four hours at most, and never less than the endpoint asked for.
 */
export function nextAttempt(made: number, retryAfter: number | null): number | null {
  if (made >= maxAttempts) return null
  return Math.max(Math.min(minute * 2 ** (made - 1), longest), retryAfter ?? 0)
}
