/**
 * When a call is repeated. What is safe depends on what is known about the first sending, so a failure is
 * classed by that.
 */

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * - `not_begun`: never sent, or refused before any work: a 429, or the service itself says `unavailable` (503) or
 *   `request_timeout` (408).
 * - `unknown`: nobody can tell whether the work was done: no response, any other 5xx, or a 408 or 503 of something in
 *   between
 *   (some proxies send one when the connection breaks after the request went out).
 * - `final`: an answer that a repetition would only receive again.
 */
export type Failure = 'not_begun' | 'unknown' | 'final'

/**
 * A GET changes nothing and a POST carries an Idempotency-Key, so both may be repeated in doubt. A PATCH or
 * DELETE in doubt may not: had the first one worked, the second could overwrite what somebody else wrote since,
 * or report 412 or 404 about its own success. The caller decides, best with `ifMatch`.
 */
const isSafe = ({ method, failure }: { method: Method; failure: Failure }): boolean =>
  failure === 'not_begun' || (failure === 'unknown' && (method === 'GET' || method === 'POST'))

/** How often and how long apart. Every part can be replaced, so that a test waits for nothing. */
export interface RetryPolicy {
  /** Repetitions after the first sending; 0 turns them off. Default 4. */
  limit: number
  /** Upper bound of the first pause in milliseconds, doubled by each repetition. Default 200. */
  baseMs: number
  /** Upper bound of any pause that the service did not ask for, in milliseconds. Default 5,000. */
  maxMs: number
  /** A longer Retry-After than this, in milliseconds, is not waited for: the error is thrown. Default 60,000. */
  maxRetryAfterMs: number
  /** A number from 0 up to 1: the share of the upper bound to wait, so that clients do not march in step. */
  random: () => number
  /** Milliseconds since 1970, to read a Retry-After that names a date. */
  now: () => number
  /** Waits; rejects with the signal's reason once it is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Some 200, 400, 800 and 1,600 ms at most: three seconds over all, unless the service asks for more. */
export const defaultRetries: RetryPolicy = {
  limit: 4,
  baseMs: 200,
  maxMs: 5_000,
  maxRetryAfterMs: 60_000,
  random: Math.random,
  now: Date.now,
  sleep,
}

/** Classes the failure of one sending. */
export const failureOf = ({ status, code }: { status: number; code: string }): Failure => {
  if (status === 429 || code === 'unavailable' || code === 'request_timeout') return 'not_begun'
  return status === 0 || status === 408 || status >= 500 ? 'unknown' : 'final'
}

/**
 * Milliseconds to wait before repetition number `attempt` (from 0), or undefined when the call is not to be
 * repeated. The pause is never shorter than what the service asked for.
 */
export const pauseBefore = (
  policy: RetryPolicy,
  attempt: number,
  call: { method: Method; failure: Failure; retryAfterMs: number | undefined },
): number | undefined => {
  const asked = call.retryAfterMs ?? 0
  if (attempt >= policy.limit || !isSafe(call) || asked > policy.maxRetryAfterMs) {
    return undefined
  }
  return asked + policy.random() * Math.min(policy.maxMs, policy.baseMs * 2 ** attempt)
}
