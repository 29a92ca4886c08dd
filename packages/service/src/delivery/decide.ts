/**
 * What is decided of deliveries, all of it pure: what an attempt's outcome means for its delivery and its endpoint, total over
 * the outcomes; when an endpoint has failed for too long; and what of a claim is sent now. Nothing else in the service knows these rules.
 */
import type { Claim, ClaimedDelivery, DeliveryError, Verdict } from './model.ts'

/** How an attempt ended, or why none was made. */
export type AttemptOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly responseBody: string
      readonly durationMs: number
    }
  | {
      readonly kind: 'failed'
      readonly code: 'timeout' | 'connection_failed' | 'tls_error' | 'resolver_failed' | 'address_not_public'
      readonly message: string
      readonly durationMs: number
      /** Whether a TLS handshake was made for it, or begun. */
      readonly handshake?: boolean
      /** Of an address that is not public: the block that it lies in, for the operator's log alone. */
      readonly block?: string
    }
  /** It was being sent alone when its worker died: nobody knows whether it arrived. */
  | { readonly kind: 'worker_lost'; readonly message: string }
  /** The API would not serve the subject to the registrant: nothing was sent. */
  | { readonly kind: 'subject_unavailable'; readonly message: string }
  /** The endpoint is disabled: nothing was sent. */
  | { readonly kind: 'endpoint_disabled'; readonly message: string }

export interface DeliveryState {
  /** Attempts made so far, and those of them that were made before the schedule that runs was begun. */
  readonly attemptCount: number
  readonly attemptsBefore: number
  readonly maxAttempts: number
  readonly isPing: boolean
}

/** The verdict on an attempt that ended at `now` (milliseconds since the Unix epoch). `delays`: one a retry, in ms. */
export function decide(
  delivery: DeliveryState,
  outcome: AttemptOutcome,
  now: number,
  delays: readonly number[],
): Verdict {
  if (outcome.kind === 'subject_unavailable' || outcome.kind === 'endpoint_disabled') {
    const error = { code: outcome.kind, message: outcome.message }
    return {
      status: 'failed',
      error,
      attempted: false,
      nextAttemptAt: null,
      counts: 'nothing',
      disable: null,
    }
  }
  const error = errorOf(outcome)
  const counts =
    delivery.isPing || outcome.kind === 'worker_lost' ? 'nothing' : error === null ? 'success' : 'failure'
  if (error === null) {
    return { status: 'succeeded', error, attempted: true, nextAttemptAt: null, counts, disable: null }
  }
  const definite = error.code === 'address_not_public'
  const delay = definite ? undefined : delayAfter(delivery, delays)
  return {
    status: delay === undefined ? 'failed' : 'pending',
    error,
    attempted: true,
    nextAttemptAt: delay === undefined ? null : now + delay,
    counts,
    // A ping may go to a disabled endpoint, and never counts; but an address that is not public is a fact.
    disable: definite ? 'address_not_public' : null,
  }
}

/**
 * The delay before the next attempt of the schedule that is running; undefined when this was its last. A delivery has as many
 * attempts as when its schedule was begun: where there are fewer delays by now, the last of them stands for those that are gone.
 */
function delayAfter(
  { attemptCount, attemptsBefore, maxAttempts }: DeliveryState,
  delays: readonly number[],
): number | undefined {
  if (attemptCount + 1 >= maxAttempts) return undefined
  return delays[Math.min(attemptCount - attemptsBefore, delays.length - 1)]
}

function errorOf(
  outcome: Extract<AttemptOutcome, { kind: 'answered' | 'failed' | 'worker_lost' }>,
): DeliveryError | null {
  if (outcome.kind === 'worker_lost') return { code: 'worker_lost', message: outcome.message }
  if (outcome.kind === 'failed') return { code: outcome.code, message: outcome.message }
  const { status } = outcome
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) {
    return { code: 'redirect', message: `answered ${status}; redirects are not followed` }
  }
  return { code: 'non_2xx', message: `answered ${status}` }
}

/** What a round of verdicts, in the order they came, does to an endpoint's record. */
export interface HealthChange {
  /** Milliseconds since the Unix epoch of the last success; null when there was none. */
  readonly succeededAt: number | null
  /** Failures since then, or in all when there was no success. */
  readonly failures: number
  /** When the first of them was. */
  readonly failedAt: number | null
}

export const noChange: HealthChange = { succeededAt: null, failures: 0, failedAt: null }

/** `change` with one more verdict, given at `now`. */
export function foldHealth(change: HealthChange, verdict: Verdict, now: number): HealthChange {
  switch (verdict.counts) {
    case 'nothing':
      return change
    case 'success':
      return { succeededAt: now, failures: 0, failedAt: null }
    case 'failure':
      return { ...change, failures: change.failures + 1, failedAt: change.failedAt ?? now }
  }
}

/**
 * Whether an endpoint has been failing long enough to be disabled (specification 9.5): judged on a failed
 * attempt, from the first failure since the last success. `failingSince` and `now` in milliseconds.
 */
export function hasFailedTooLong(failingSince: number | null, now: number, disableAfter: number): boolean {
  return failingSince !== null && now - failingSince >= disableAfter
}

/** The part of its time that an endpoint has been failing for, as far as it is worth a warning; null before. Milliseconds. */
export function warningStage(
  failingSince: number | null,
  now: number,
  disableAfter: number,
  stages: readonly number[],
): number | null {
  if (failingSince === null) return null
  return stages.find((part) => now - failingSince >= part * disableAfter) ?? null
}

/** What of a claim is to be sent now. */
export type ToSend =
  /** All of these at once. What was claimed behind them is left. */
  | { readonly kind: 'together'; readonly deliveries: readonly ClaimedDelivery[] }
  /** This one while nothing else is under way. */
  | { readonly kind: 'alone'; readonly delivery: ClaimedDelivery }
  /** This one was alone when its worker died, since `since` (milliseconds since the Unix epoch): that was its attempt. */
  | { readonly kind: 'lost'; readonly delivery: ClaimedDelivery; readonly since: number }

/**
 * What of the deliveries that were claimed is to be sent now. After three lost leases in a row an endpoint's deliveries are sent one
 * at a time, until those that may have been under way with the workers that died are through. The one that was alone when its worker
 * died gets the attempt `worker_lost`, and is sent alone from there on.
 */
export function toSendOf({
  deliveries,
  aloneLeft,
  lost,
}: Pick<Claim, 'deliveries' | 'aloneLeft' | 'lost'>): ToSend {
  const victim = lost === null ? undefined : deliveries.find(({ id }) => id === lost.id)
  if (lost !== null && victim !== undefined) return { kind: 'lost', delivery: victim, since: lost.since }
  const [first] = deliveries
  if (first !== undefined && (aloneLeft > 0 || first.lostWorker)) return { kind: 'alone', delivery: first }
  const suspect = deliveries.findIndex(({ lostWorker }) => lostWorker)
  return { kind: 'together', deliveries: suspect === -1 ? deliveries : deliveries.slice(0, suspect) }
}
