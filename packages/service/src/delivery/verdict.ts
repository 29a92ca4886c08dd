/**
 * The rules of deliveries, all pure: verdicts on attempts, when an endpoint has failed for too long, what is sent now.
 */
import { parseRetryAfter } from '@deskwire/sdk/retry-after'
import type { Claim, ClaimedDelivery, DeliveryError, EndpointOptions, Verdict } from './model.ts'
import { finalStatuses } from './model.ts'

/** `durationMs` ends at the headers of the response or at the failure, and is never beyond the timeout. */
export type SendOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly responseBody: string
      readonly durationMs: number
      /** The header as it came; missing without one. */
      readonly retryAfter?: string
    }
  | {
      readonly kind: 'failed'
      readonly code:
        | 'timeout'
        | 'connection_failed'
        | 'tls_error'
        | 'resolver_failed'
        | 'address_not_public'
        | 'proxy_failed'
      /** One sentence for the receiver's operator: no payload, no secret. */
      readonly message: string
      readonly durationMs: number
      /** A TLS handshake was begun or made, which costs a worker more than all else. */
      readonly handshake?: boolean
      /** The special-purpose block of an address that is not public; for the operator's log only. */
      readonly block?: string
    }

export type AttemptOutcome =
  | SendOutcome
  /** The delivery was sent alone when its worker died; it may have arrived. */
  | { readonly kind: 'worker_lost'; readonly message: string }
  | { readonly kind: 'subject_unavailable'; readonly message: string }
  | { readonly kind: 'endpoint_disabled'; readonly message: string }

export interface DeliveryState {
  /** Attempts made so far, and those made before the current schedule began. */
  readonly attemptCount: number
  readonly attemptsBefore: number
  readonly maxAttempts: number
  /** It is no event of the desk: a ping. */
  readonly isControl: boolean
}

/** A retry comes later by up to this part of its delay, so that the retries after an outage do not come at once. */
const spread = 0.05

/**
 * The verdict on an attempt that ended at `now` (milliseconds since the Unix epoch). `delays`: one for each retry, in
 * milliseconds. `random`: from 0 to 1, how much later than its delay the retry comes.
 */
export function decide(
  delivery: DeliveryState,
  outcome: AttemptOutcome,
  now: number,
  { delays, random }: { readonly delays: readonly number[]; readonly random: number },
  options: Pick<EndpointOptions, 'honorRetryAfter' | 'disableOn410' | 'format'> | null = null,
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
    delivery.isControl || outcome.kind === 'worker_lost' ? 'nothing' : error === null ? 'success' : 'failure'
  if (error === null) {
    return { status: 'succeeded', error, attempted: true, nextAttemptAt: null, counts, disable: null }
  }
  const disable = disabledBy(delivery, outcome, options)
  const isOver = disable !== null || isRefused(options, outcome)
  const delay = isOver ? undefined : delayAfter(delivery, delays)
  const later = (milliseconds: number) => now + Math.round(milliseconds * (1 + spread * random))
  return {
    status: delay === undefined ? 'failed' : 'pending',
    error,
    attempted: true,
    nextAttemptAt: delay === undefined ? null : later(Math.max(delay, waitOf(outcome, options, now))),
    counts,
    disable,
  }
}

function isRefused(options: Pick<EndpointOptions, 'format'> | null, outcome: AttemptOutcome): boolean {
  return options?.format === 'mcp' && outcome.kind === 'answered' && finalStatuses.includes(outcome.status)
}

function disabledBy(
  { isControl }: DeliveryState,
  outcome: AttemptOutcome,
  options: Pick<EndpointOptions, 'disableOn410'> | null,
): Verdict['disable'] {
  // A ping does not count towards the endpoint's health, but an address that is not public disables it all the same.
  if (outcome.kind === 'failed' && outcome.code === 'address_not_public') return 'address_not_public'
  const isGone = outcome.kind === 'answered' && outcome.status === 410
  return isGone && !isControl && options?.disableOn410 ? 'gone' : null
}

/** Milliseconds that the receiver asks to wait for, where its endpoint honors that. */
function waitOf(
  outcome: AttemptOutcome,
  options: Pick<EndpointOptions, 'honorRetryAfter'> | null,
  now: number,
): number {
  if (!options?.honorRetryAfter || outcome.kind !== 'answered') return 0
  const isTold = outcome.status === 429 || outcome.status === 503
  return (isTold ? parseRetryAfter(outcome.retryAfter, now) : undefined) ?? 0
}

/**
 * Undefined after the last attempt. `maxAttempts` is from when the schedule began: if there are fewer delays now, the
 * last one repeats.
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

/** How results, in their order, change an endpoint's health. */
export interface HealthChange {
  readonly succeededAt: number | null
  /** Failures since then, or all if there was no success. */
  readonly failures: number
  /** When the first of them was. */
  readonly failedAt: number | null
}

export const noChange: HealthChange = { succeededAt: null, failures: 0, failedAt: null }

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

/** Whether results may have put an endpoint in another state than the reported one. */
export function isToReport(reported: string | null, { succeededAt, failures }: HealthChange): boolean {
  if (failures > 0) return reported === null || reported === 'disabled'
  return succeededAt !== null && reported !== null
}

/**
 * Whether an endpoint is disabled for failing: so long since its first failure after its last success. Milliseconds.
 */
export function hasFailedTooLong(failingSince: number | null, now: number, disableAfter: number): boolean {
  return failingSince !== null && now - failingSince >= disableAfter
}

/**
 * The largest of `stages` that the endpoint has been failing for, as a fraction of `disableAfter`; null before the
 * first. Milliseconds.
 */
export function warningStage(
  failingSince: number | null,
  now: number,
  disableAfter: number,
  stages: readonly number[],
): number | null {
  if (failingSince === null) return null
  return stages.find((part) => now - failingSince >= part * disableAfter) ?? null
}

export type ToSend =
  /** All of these at once. What was claimed after them is left for later. */
  | { readonly kind: 'together'; readonly deliveries: readonly ClaimedDelivery[] }
  | { readonly kind: 'alone'; readonly delivery: ClaimedDelivery }
  /**
   * This one was being sent alone, since `since` (milliseconds since the Unix epoch), when its worker died: that was
   * its attempt.
   */
  | { readonly kind: 'lost'; readonly delivery: ClaimedDelivery; readonly since: number }

/**
 * Which claimed deliveries are sent now. After three lost leases in a row, deliveries are sent one at a time until
 * those that may have been under way are done. The one that was alone when its worker died gets the result
 * `worker_lost`, and is sent alone from then on.
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
