/**
 * The nouns of this room: an endpoint's queue and the lease of it, what is claimed from it, and what came of it. Types and what follows from them,
 * so that every file here may name them. Times are milliseconds since the Unix epoch, and durations milliseconds.
 */
import type { Networks } from '../kernel/networks.ts'

/**
 * What an endpoint's queue competes with, so that endpoints that hang do not delay those that respond. In the order of the column
 * `lanes.tier`. An endpoint is healthy while it responds in time, unproven before its first response and after a late one, and failing after an
 * attempt without a response.
 */
export const priorityClasses = ['healthy', 'unproven', 'failing'] as const
export type PriorityClass = (typeof priorityClasses)[number]

/** An endpoint, and so its queue: a row of `lanes`. */
export interface EndpointKey {
  readonly organizationId: string
  readonly webhookId: string
}

/** The key as text. */
export function keyOf({ organizationId, webhookId }: EndpointKey): string {
  return `${organizationId} ${webhookId}`
}

/** An endpoint's queue that may be claimed from, or the worker's own with something new. */
export interface DueQueue extends EndpointKey {
  readonly priority: PriorityClass
}

/** An endpoint's queue and the worker's lease of it. */
export interface LeasedQueue extends EndpointKey {
  readonly leaseId: string
}

/** A worker's hold on an endpoint's queue. */
export interface Lease {
  readonly id: string
  readonly workerId: string
  readonly until: number
  /** Whether commits wake the worker for what they add to the queue. */
  readonly listening: boolean
}

/** A delivery that a worker has claimed. */
export interface ClaimedDelivery {
  readonly id: string
  readonly attemptCount: number
  /** Of those, before the schedule that runs was begun: by hand or by a recovery it was started over. */
  readonly attemptsBefore: number
  readonly maxAttempts: number
  /** Whether its last attempt was `worker_lost`: it is sent alone. */
  readonly lostWorker: boolean
  /** Since when its next attempt is due: before any attempt, when it was made or started over. */
  readonly dueAt: number
  /** A retry by hand or a recovery that begins it again moves it on. */
  readonly updatedAt: number
  readonly event: {
    readonly id: string
    readonly type: string
    /** As the wire writes it. */
    readonly createdAt: string
    /** The subject's kind; `webhook` for a ping. */
    readonly subjectKind: string
    /** The trace that its change was made in, as a `traceparent`; null where it was not traced, missing where the worker does not trace. */
    readonly traceContext?: string | null
  }
  /** What `data` is to be, null when the subject is gone: its representation now, or the stored payload. */
  readonly data: string | null
}

/** An endpoint as it was when its queue was claimed from. */
export interface Endpoint {
  readonly url: string
  readonly disabledReason: string | null
  /** The registrant's scopes; null when its key is revoked or has expired. */
  readonly scopes: readonly string[] | null
  /** The secrets that sign now, the newest first, as stored. */
  readonly sealedSecrets: readonly Buffer[]
  /** Whether they sign by Standard Webhooks as well. */
  readonly standardSignatures: boolean
  /** Its organization is suspended: nothing is sent, and what is pending stays so. */
  readonly suspended: boolean
}

/** The result of a claim. */
export interface Claim extends LeasedQueue {
  readonly endpoint: Endpoint
  readonly deliveries: readonly ClaimedDelivery[]
  /** How many are still to be sent one at a time, as leases were lost; 0 mostly. */
  readonly aloneLeft: number
  /** The delivery that was alone when its worker died, and since when; null when none was. */
  readonly lost: { readonly id: string; readonly since: number } | null
}

/** Why a delivery has not arrived. */
export type DeliveryErrorCode =
  | 'timeout'
  | 'connection_failed'
  | 'tls_error'
  | 'redirect'
  | 'non_2xx'
  | 'address_not_public'
  | 'resolver_failed'
  | 'endpoint_disabled'
  | 'subject_unavailable'
  | 'worker_lost'

export interface DeliveryError {
  readonly code: DeliveryErrorCode
  readonly message: string
}

export interface Verdict {
  /** The delivery's status after the attempt. */
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly error: DeliveryError | null
  /** Whether an attempt was made; it is then logged. */
  readonly attempted: boolean
  /** Milliseconds since the Unix epoch; null unless pending. */
  readonly nextAttemptAt: number | null
  /** What it says of the endpoint. */
  readonly counts: 'success' | 'failure' | 'nothing'
  /** The endpoint is to be disabled at once. */
  readonly disable: 'address_not_public' | null
}

/** What came of one delivery that was claimed. */
export interface AttemptResult {
  readonly delivery: ClaimedDelivery
  /** Where it went: the endpoint may have another URL by now. */
  readonly url: string
  readonly verdict: Verdict
  readonly startedAt: number
  readonly endedAt: number
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly durationMs: number
  /** Whether a TLS handshake was made for it in vain. */
  readonly lostHandshake: boolean
}

/** Receives what a worker does, for its metrics. Nothing here names an endpoint. */
export interface DeliveryObserver {
  /** An attempt was made. */
  attempted(attempt: {
    readonly outcome: 'succeeded' | DeliveryErrorCode
    readonly durationMs: number
    /**
     * Of a first attempt, milliseconds since its delivery was made, or started over; otherwise null. Not since its
     * event: what a recovery makes is of weeks ago.
     */
    readonly waitedMs: number | null
  }): void
  /** An endpoint was disabled. */
  disabled(reason: string): void
}

export const nobodyObserves: DeliveryObserver = { attempted() {}, disabled() {} }

/** The settings of an installation that say when to try again and when to give up. */
export interface DeliverySchedule {
  /** One a retry. */
  readonly retryDelays: readonly number[]
  /** Continuous failure before an endpoint is disabled. */
  readonly disableAfter: number
  /** A whole attempt. */
  readonly answerTimeout: number
}

/** Attempts that a delivery has: the first, and one a delay. */
export function attemptsOf(schedule: Pick<DeliverySchedule, 'retryDelays'>): number {
  return schedule.retryDelays.length + 1
}

/** What an operator sets of deliveries. */
export interface DeliverySettings {
  readonly schedule: DeliverySchedule
  readonly rotationOverlap: number
  readonly logRetention: number
  readonly encryptionKey: Buffer
  /** A second key that secrets may be encrypted with, while one replaces the other. */
  readonly encryptionKeyPrevious: Buffer | null
  readonly trustedTargets: Networks
  /** PEM. */
  readonly targetCa: string | null
  readonly dnsServers: readonly string[] | null
}
