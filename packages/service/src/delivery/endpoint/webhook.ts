/** An endpoint's record: what the database stores and what the API shows (specification 9.1). */

import { formatTimestamp } from '../../kernel/timestamps.ts'
import type { EndpointOptions } from '../model.ts'
import { shownOptions } from './options.ts'

/**
 * By the service's own header, or also by Standard Webhooks, with `v1a` asymmetrically as well (specification 10.2).
 */
export type SignatureScheme = 'service' | 'standard' | 'v1a'

export interface WebhookRow {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly events: readonly string[]
  readonly signatures: readonly SignatureScheme[]
  readonly options: EndpointOptions | null
  readonly status: 'active' | 'disabled'
  readonly disabled_reason: string | null
  readonly disabled_at: Date | null
  /** The start of its last disabled period, until a recovery covers it; null otherwise. */
  readonly gap_since: Date | null
  readonly gap_until: Date | null
  /** Computed by each read: see `delivery/queue/missed-since.sql`. */
  readonly missed_since: Date | null
  readonly failing_since: Date | null
  readonly failure_count: number
  readonly last_success_at: Date | null
  readonly previous_secret_expires_at: Date | null
  readonly api_key_id: string
  readonly console_link_id: string | null
  /** From then on nothing is sent, and it is removed with its log. */
  readonly ends_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** As the API shows and takes it: a row has `paused` among its options, so that all else treats it as active. */
export function statusOf({ status, options }: Pick<WebhookRow, 'status' | 'options'>) {
  return status === 'active' && options?.paused ? 'paused' : status
}

/** The record without its secret. `disableAfter`: how long an endpoint may fail, in milliseconds. */
export function webhookRecord(organizationId: string, row: WebhookRow, disableAfter: number) {
  const isFailing = statusOf(row) === 'active' && row.failing_since !== null
  return {
    id: row.id,
    object: 'webhook' as const,
    organizationId,
    url: row.url,
    description: row.description,
    events: row.events,
    signatures: row.signatures,
    ...shownOptions(row.options),
    status: statusOf(row),
    disabledReason: row.disabled_reason,
    disabledAt: shown(row.disabled_at),
    failingSince: shown(row.failing_since),
    disablesAt: isFailing ? formatTimestamp(row.failing_since.getTime() + disableAfter) : null,
    failureCount: row.failure_count,
    lastSuccessAt: shown(row.last_success_at),
    missedSince: shown(row.missed_since),
    previousSecretExpiresAt: shown(row.previous_secret_expires_at),
    apiKeyId: row.api_key_id,
    consoleLinkId: row.console_link_id,
    ...(row.ends_at === null ? {} : { expiresAt: formatTimestamp(row.ends_at.getTime()) }),
    createdAt: formatTimestamp(row.created_at.getTime()),
    updatedAt: formatTimestamp(row.updated_at.getTime()),
  }
}

export type WebhookRecord = ReturnType<typeof webhookRecord>

export interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly status: 'pending' | 'succeeded' | 'failed' | 'skipped'
  readonly attempt_count: number
  readonly max_attempts: number
  readonly response_status: number | null
  readonly last_error_code: string | null
  readonly last_error_message: string | null
  readonly duration_ms: number | null
  readonly last_attempt_at: Date | null
  readonly next_attempt_at: Date | null
  readonly delivered_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of the delivery log; never the payload (specification 11.1). */
export function deliveryRecord(organizationId: string, row: DeliveryRow) {
  const coalescedInto = row.last_error_code === 'coalesced' ? row.last_error_message : null
  return {
    id: row.id,
    object: 'delivery' as const,
    organizationId,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: row.status,
    ...(coalescedInto === null ? {} : { coalescedInto }),
    attemptCount: row.attempt_count,
    maxAttempts: row.max_attempts,
    responseStatus: row.response_status,
    lastError:
      coalescedInto === null
        ? errorRecord(row.last_error_code, row.last_error_message)
        : errorRecord('coalesced', `delivery ${coalescedInto} is sent for several updates`),
    durationMs: row.duration_ms,
    lastAttemptAt: shown(row.last_attempt_at),
    nextAttemptAt: shown(row.next_attempt_at),
    deliveredAt: shown(row.delivered_at),
    createdAt: formatTimestamp(row.created_at.getTime()),
    updatedAt: formatTimestamp(row.updated_at.getTime()),
  }
}

export interface AttemptRow {
  readonly number: number
  readonly at: Date
  readonly response_status: number | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly duration_ms: number
  readonly response_body: string | null
}

export function attemptRecord(row: AttemptRow) {
  return {
    number: row.number,
    at: formatTimestamp(row.at.getTime()),
    responseStatus: row.response_status,
    error: errorRecord(row.error_code, row.error_message),
    durationMs: row.duration_ms,
    responseBody: row.response_body,
  }
}

export interface RecoveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly since: Date
  readonly until: Date
  readonly include_succeeded: boolean
  readonly retried: number
  readonly created: number
  readonly created_at: Date
  readonly finished_at: Date | null
}

export function recoveryRecord(row: RecoveryRow) {
  return {
    id: row.id,
    object: 'recovery' as const,
    webhookId: row.webhook_id,
    since: formatTimestamp(row.since.getTime()),
    until: formatTimestamp(row.until.getTime()),
    ...(row.include_succeeded ? { includeSucceeded: true as const } : {}),
    status: row.finished_at === null ? ('running' as const) : ('done' as const),
    retried: row.retried,
    created: row.created,
    createdAt: formatTimestamp(row.created_at.getTime()),
    finishedAt: row.finished_at === null ? null : formatTimestamp(row.finished_at.getTime()),
  }
}

function errorRecord(code: string | null, message: string | null) {
  return code === null ? null : { code, message }
}

function shown(at: Date | null): string | null {
  return at === null ? null : formatTimestamp(at.getTime())
}
