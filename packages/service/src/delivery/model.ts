/** The types of this room. Times are milliseconds since the Unix epoch, durations milliseconds. */

import { readJson } from '@deskwire/sdk/json'
import type { FastifyBaseLogger } from 'fastify'
import type { Networks } from '../kernel/networks.ts'
import type { KeyedQueue } from '../kernel/shared-work.ts'
import type { Clock } from '../kernel/timestamps.ts'

/**
 * The priority of an endpoint's queue, so that endpoints that hang do not delay those that respond. Responsive:
 * responds in time, if only with errors. Unproven: no response yet, or a late one. Unresponsive: the last attempt had
 * no response. The order is that of the column `endpoint_queues.priority`.
 */
export const priorities = ['responsive', 'unproven', 'unresponsive'] as const
export type Priority = (typeof priorities)[number]

export interface EndpointKey {
  readonly organizationId: string
  readonly webhookId: string
}

export function keyOf({ organizationId, webhookId }: EndpointKey): string {
  return `${organizationId} ${webhookId}`
}

/** An endpoint's queue that may be claimed from, or the worker's own with something new. */
export interface DueQueue extends EndpointKey {
  readonly priority: Priority
  /** The worker that holds it; null or missing: none, or not known. */
  readonly worker?: string | null
}

export interface LeasedQueue extends EndpointKey {
  readonly leaseId: string
}

export interface Lease {
  readonly id: string
  readonly workerId: string
  readonly until: number
}

export interface ClaimedDelivery {
  readonly id: string
  readonly attemptCount: number
  /** Attempts before the current schedule began; a retry by hand or a recovery starts it over. */
  readonly attemptsBefore: number
  readonly maxAttempts: number
  /** Whether its last attempt was `worker_lost`: it is sent alone. */
  readonly lostWorker: boolean
  /** When its next attempt became due; before any attempt, when it was created or started over. */
  readonly dueAt: number
  /** Changes when a retry by hand or a recovery starts it over. */
  readonly updatedAt: number
  readonly event: {
    readonly id: string
    readonly type: string
    readonly createdAt: string
    /** The subject's kind; `endpoint` for an event about an endpoint, `webhook` for a ping. */
    readonly subjectKind: string
    /** Who caused it (`origin.ts`); null or missing where the endpoint does not ask. */
    readonly origin?: string | null
    /** The trace of its change as a `traceparent`; null if it was not traced, missing if the worker does not trace. */
    readonly traceContext?: string | null
    /** The fields that the change changed, as JSON; null or missing if it lists none, or the endpoint did not ask. */
    readonly changed?: string | null
  }
  /** The `data` to send, a representation; null when the subject is gone. */
  readonly data: string | null
}

export interface Endpoint {
  readonly url: string
  readonly disabledReason: string | null
  /** The registrant's scopes; null when its key is revoked or has expired. */
  readonly scopes: readonly string[] | null
  /** The secrets that sign now, the newest first, encrypted. */
  readonly sealedSecrets: readonly Buffer[]
  readonly standardSignatures: boolean
  /** Besides the standard ones. Default: false. */
  readonly asymmetricSignature?: boolean
  /**
   * It is paused, or its organization suspended or not served here: nothing is sent, and pending deliveries stay.
   */
  readonly held: boolean
  /** The state that an `endpoint.*` event reported last; null or missing when it was healthy, or none was. */
  readonly reportedState?: string | null
  /** What it asks for beyond the defaults; null or missing when it asks for nothing. */
  readonly options?: EndpointOptions | null
  readonly sealedHeaders?: Buffer | null
}

export interface Claim extends LeasedQueue {
  readonly endpoint: Endpoint
  readonly deliveries: readonly ClaimedDelivery[]
  /** How many deliveries are still to be sent one at a time, as leases were lost; mostly 0. */
  readonly aloneLeft: number
  /** The delivery that was alone when its worker died, and since when; null when there is none. */
  readonly lost: { readonly id: string; readonly since: number } | null
  /** How often something may have become due before where the queue was read to (`read-position.ts`). */
  readonly rewinds: number
  readonly leaseUntil: number
}

export type DeliveryErrorCode =
  | 'timeout'
  | 'connection_failed'
  | 'tls_error'
  | 'redirect'
  | 'non_2xx'
  | 'address_not_public'
  | 'resolver_failed'
  | 'proxy_failed'
  | 'endpoint_disabled'
  | 'subject_unavailable'
  | 'worker_lost'

/** Also those of deliveries that fail without an attempt. */
export type FailureCode = DeliveryErrorCode | 'paused_too_long'

export interface DeliveryError {
  readonly code: DeliveryErrorCode
  readonly message: string
}

export interface Verdict {
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly error: DeliveryError | null
  readonly attempted: boolean
  /** Milliseconds since the Unix epoch; null unless pending. */
  readonly nextAttemptAt: number | null
  /** What it counts as for the endpoint's health. */
  readonly counts: 'success' | 'failure' | 'nothing'
  readonly disable: 'address_not_public' | 'gone' | null
}

export interface AttemptResult {
  readonly delivery: ClaimedDelivery
  /** Where it was sent: the endpoint's URL may have changed since. */
  readonly url: string
  readonly verdict: Verdict
  readonly startedAt: number
  readonly endedAt: number
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly durationMs: number
  /** A TLS handshake was made for nothing. */
  readonly lostHandshake: boolean
}

/** Receives what a worker does, for its metrics. Nothing here names an endpoint. */
export interface DeliveryObserver {
  attempted(attempt: {
    readonly outcome: 'succeeded' | DeliveryErrorCode
    readonly durationMs: number
    /**
     * For a first attempt, milliseconds since its delivery (not its event) was created or started over; otherwise null.
     */
    readonly waitedMs: number | null
  }): void
  disabled(reason: string): void
}

export const nobodyObserves: DeliveryObserver = { attempted() {}, disabled() {} }

/** What the job loops of a worker share. */
export interface JobServices {
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  /** Called when deliveries may be due. */
  readonly onDeliveries: () => void
  /** Runs one call at a time of those that take an organization's clock row. */
  readonly exclusiveTasks?: KeyedQueue
}

export interface DeliverySchedule {
  readonly retryDelays: readonly number[]
  /** Continuous failure before an endpoint is disabled. */
  readonly disableAfter: number
  readonly answerTimeout: number
}

export function attemptsOf(schedule: Pick<DeliverySchedule, 'retryDelays'>): number {
  return schedule.retryDelays.length + 1
}

/** The proxy that deliveries go through. */
export interface EgressProxy {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
  /** The value of Proxy-Authorization; null without credentials. */
  readonly authorization: string | null
}

export interface DeliverySettings {
  readonly schedule: DeliverySchedule
  readonly rotationOverlap: number
  readonly logRetention: number
  readonly encryptionKey: Buffer
  /** A second key that may decrypt secrets, while one replaces the other. */
  readonly encryptionKeyPrevious: Buffer | null
  readonly trustedTargets: Networks
  /** PEM. */
  readonly targetCa: string | null
  readonly egressProxy: EgressProxy | null
  readonly dnsServers: readonly string[] | null
}

/** Whether a delivery of this type is without an event of the desk. Disabled endpoints get these too. */
export const isPing = (type: string): boolean => type === 'ping'

/** By these statuses a receiver of the format `mcp` refuses an event for good. */
export const finalStatuses: readonly number[] = [410, 413]

/** What must hold of an object for an event to be sent. */
export interface Condition {
  readonly field: string
  readonly op: 'equals' | 'in' | 'changed' | 'exists'
  /** Of `exists`: false asks for null; absent is true. */
  readonly value?: unknown
}

/** How its deliveries are made. A member is there only where it differs from the default. */
export interface EndpointOptions {
  /** Its status is `paused`: deliveries are created and stay pending. A disabled endpoint is disabled all the same. */
  readonly paused?: true
  /** The names of headers of its own, in lower case. Their values are sealed. */
  readonly headers?: readonly string[]
  /** Attempts a second. */
  readonly rateLimit?: number
  /** Attempts at once. */
  readonly maxConcurrent?: number
  /** `mcp`: bodies are occurrences of the events proposal of the Model Context Protocol (SEP-3415). */
  readonly format?: 'mcp'
  /** `thin`: `data` is `{id, object}`. */
  readonly payload?: 'thin'
  /** A Retry-After with a 429 or 503 puts off the next attempt. */
  readonly honorRetryAfter?: true
  /** A 410 disables the endpoint. */
  readonly disableOn410?: true
  /** All must hold when an event happens. */
  readonly conditions?: readonly Condition[]
  /** Envelopes of changes name the fields that changed. */
  readonly changedFields?: true
  /** Envelopes say who caused the event. */
  readonly includeActor?: true
  /** Nothing is sent of what the key that registered it, or a session of it, has caused. */
  readonly skipOwn?: true
  /** Seconds: updates of an object within them are sent as one. */
  readonly coalesce?: number
  /** Strings of the client that registered it. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** The options of an endpoint with this column. */
export function readOptions(text: string | null): EndpointOptions | null {
  return text === null ? null : (readJson(text) as EndpointOptions)
}

/** `data` as the endpoint wants it. `data` is a representation as it is stored, or the empty object of a ping. */
export function dataFor(options: EndpointOptions | null, data: string): string {
  if (options?.payload !== 'thin' || data === '{}') return data
  const { id, object } = readJson(data) as { readonly id: string; readonly object: string }
  return JSON.stringify({ id, object })
}
