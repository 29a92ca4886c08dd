/**
 * The fields of endpoints, deliveries and attempts in responses, for `openapi.json`, the reference and the SDK's types.
 */

import { constant } from '../../openapi/api-module.ts'
import {
  count,
  field,
  nullable,
  optional,
  type Shown,
  text,
  time,
  uuid,
  words,
} from '../../openapi/field-schemas.ts'
import type { FailureCode } from '../model.ts'
import { shownOptionFields } from './options.ts'
import { secretForm } from './secrets.ts'
import type { Stats, StatsPoint } from './stats.ts'
import type { attemptRecord, deliveryRecord, recoveryRecord, WebhookRecord } from './webhook.ts'

const attemptErrors = {
  timeout: 'no complete response headers in time',
  connection_failed: 'refused, unreachable, reset, not HTTP/1.1, or response headers over 16 KiB',
  tls_error: 'no TLS 1.2 or later, HTTP/2 only, or an untrusted, expired or wrong certificate',
  redirect: '3xx; redirects are not followed',
  non_2xx: 'any other status that is not 2xx',
  address_not_public: 'no such name, or an address that is not public: the endpoint is disabled',
  resolver_failed: 'DNS failed for now',
  proxy_failed: 'the proxy that deliveries go through refused the request, or could not be reached',
  endpoint_disabled: 'the endpoint is disabled: nothing was sent',
  subject_unavailable: 'the API would not serve the subject to the registrant: nothing was sent',
  worker_lost:
    'the worker died while it sent this delivery alone: it may have arrived; counts neither for nor against the endpoint',
  paused_too_long: 'the endpoint was paused until shortly before the log would end: nothing was sent',
} as const satisfies Record<FailureCode, string>

/** Of deliveries that were skipped. */
const skipErrors = {
  own_change:
    'the key that registered the endpoint caused the event, and it skips those: nothing was to be sent',
  conditions_not_met: 'the conditions of the endpoint did not hold: nothing was to be sent',
  coalesced: 'another delivery, `coalescedInto`, is sent for several updates of the object',
} as const

/** Those that are counted; a skipped delivery is not. */
export const attemptErrorCodes: Readonly<Record<string, string>> = attemptErrors
export const deliveryErrorCodes: Readonly<Record<string, string>> = { ...attemptErrors, ...skipErrors }

const error = {
  type: ['object', 'null'],
  required: ['code', 'message'],
  properties: { code: words(...Object.keys(deliveryErrorCodes)), message: text },
}

export function webhookFields(events: readonly string[]): Shown<WebhookRecord> {
  return {
    id: field(uuid, 'Its id.'),
    object: field(constant('webhook'), 'Its kind.'),
    organizationId: field(uuid, 'Whose it is.'),
    url: field(text, 'Where deliveries go.'),
    description: field(nullable(text), 'Its purpose, for people.'),
    events: field(
      { type: 'array', items: words(...events) },
      'The events it receives: types, and patterns as it was given them.',
    ),
    signatures: field(
      { type: 'array', items: words('service', 'standard', 'v1a') },
      'How deliveries are signed: `service` by X-Service-Signature, always; `standard` by the headers of Standard Webhooks as well; `v1a` in these also with the key pair of the organization (Ed25519).',
    ),
    ...shownOptionFields,
    status: field(
      words('active', 'paused', 'disabled'),
      'A paused endpoint gets its deliveries once it is active, a disabled one no events.',
    ),
    disabledReason: field(
      nullable(words('failing', 'address_not_public', 'registrant_revoked', 'manual', 'gone')),
      'Why it is disabled; null while active.',
    ),
    disabledAt: field(nullable(time), 'Since when it is disabled; null while active.'),
    failingSince: field(nullable(time), 'The first failure since the last success.'),
    disablesAt: field(
      nullable(time),
      'From when on a failed attempt disables it, unless one succeeds before; null while it does not fail, and while it is disabled.',
    ),
    failureCount: field(count, 'Failed attempts since the last success.'),
    lastSuccessAt: field(nullable(time), 'The last delivery that succeeded.'),
    missedSince: field(
      nullable(time),
      'Where a recovery has to begin: no event before this, as far as the log goes back, has failed or was left out while it was disabled. Null when none was.',
    ),
    previousSecretExpiresAt: field(
      nullable(time),
      'Until when a replaced secret signs as well; null when none does.',
    ),
    apiKeyId: field(
      uuid,
      'The key that registered it. Deliveries go out while that key may read their subjects.',
    ),
    consoleLinkId: field(
      nullable(uuid),
      'The console link whose session registered it, for that key; null when the key did so itself. It stays after the session has ended.',
    ),
    expiresAt: optional(
      time,
      'When it ends: nothing is sent any more, and it is deleted with its log. Absent where it does not end by itself.',
    ),
    createdAt: field(time, 'When it was registered.'),
    updatedAt: field(time, 'When it was last changed. Counters such as failureCount do not change it.'),
  }
}

/** In the responses of creation and rotation only. */
export const secretField = field(
  { type: 'string', pattern: secretForm.source },
  'Signs deliveries. Shown this once: keep it.',
)

export const deliveryFields: Shown<ReturnType<typeof deliveryRecord>> = {
  id: field(uuid, 'Its id.'),
  object: field(constant('delivery'), 'Its kind.'),
  organizationId: field(uuid, 'Whose it is.'),
  webhookId: field(uuid, 'The endpoint it goes to.'),
  eventId: field(uuid, 'The event: `id` of the envelope, the same on every attempt.'),
  eventType: field(text, 'The type of the event; `ping` for a ping.'),
  status: field(
    words('pending', 'succeeded', 'failed', 'skipped'),
    'Its state; `skipped`: by the options of the endpoint nothing was to be sent, `lastError` says why.',
  ),
  coalescedInto: optional(
    uuid,
    'The delivery that is sent for this update too; absent where it is sent itself.',
  ),
  attemptCount: field(count, 'Attempts made so far.'),
  maxAttempts: field(count, 'Attempts it has in all; a manual retry adds a whole schedule.'),
  responseStatus: field(nullable({ type: 'integer' }), 'The last status of the receiver.'),
  lastError: field(error, 'Why the last attempt failed.'),
  durationMs: field(nullable({ type: 'integer' }), 'How long the last attempt took, in milliseconds.'),
  lastAttemptAt: field(nullable(time), 'When the last attempt began.'),
  nextAttemptAt: field(nullable(time), 'When the next attempt is due; null unless pending.'),
  deliveredAt: field(nullable(time), 'When it succeeded.'),
  createdAt: field(time, 'When it was made: with its event, or later, by a recovery.'),
  updatedAt: field(time, 'When it last changed.'),
}

export const attemptFields: Shown<ReturnType<typeof attemptRecord>> = {
  number: field({ type: 'integer', minimum: 1 }, 'Counts up within the delivery.'),
  at: field(time, 'When it began.'),
  responseStatus: field(nullable({ type: 'integer' }), 'The status of the receiver; null when it sent none.'),
  error: field(error, 'Why it failed; null when it succeeded.'),
  durationMs: field({ type: 'integer' }, 'How long it took, in milliseconds.'),
  responseBody: field(
    nullable(text),
    'The beginning of the answer, 1 KiB at most, as text; null without the read scope of the event.',
  ),
}

interface RetriedNow {
  readonly object: 'retried_now'
  readonly webhookId: string
  readonly retried: number
  readonly hasMore: boolean
}

export const retriedNowFields: Shown<RetriedNow> = {
  object: field(constant('retried_now'), 'Its kind.'),
  webhookId: field(uuid, 'The endpoint.'),
  retried: field(count, 'Deliveries that are attempted now instead of later.'),
  hasMore: field({ type: 'boolean' }, 'Whether others still wait: ask again.'),
}

export const recoveryFields: Shown<ReturnType<typeof recoveryRecord>> = {
  id: field(uuid, 'Its id.'),
  object: field(constant('recovery'), 'Its kind.'),
  webhookId: field(uuid, 'The endpoint whose missed events come back.'),
  since: field(time, 'The beginning of the window, in it.'),
  until: field(time, 'The end of the window, in it.'),
  includeSucceeded: optional(
    { type: 'boolean' },
    'Events that had arrived are sent again too; only shown where they are.',
  ),
  status: field(words('running', 'done'), 'Whether all events of the window have been examined.'),
  retried: field(count, 'Deliveries that had failed and are sent again, so far.'),
  created: field(count, 'Deliveries that were missing and have been made, so far.'),
  createdAt: field(time, 'When the request for it came.'),
  finishedAt: field(nullable(time), 'When it was done; deliveries may still be pending then.'),
}

const counts = { type: 'object', additionalProperties: count }
const nullableCount = { type: ['integer', 'null'], minimum: 0 }

/** Of one step, or of all together. */
export const totalFields: Shown<Stats['total']> = {
  succeeded: field(count, 'Deliveries that arrived.'),
  failed: field(
    counts,
    'Attempts that failed, and deliveries that failed without one, by the code of the error; without those that did not happen.',
  ),
  p50: field(
    nullableCount,
    'How long half of the attempts took at most, in milliseconds, from counts by duration; null where none was made.',
  ),
  p95: field(nullableCount, 'How long 95 of 100 attempts took at most, likewise.'),
}

export const statsFields: Shown<StatsPoint> = {
  at: field(time, 'When the step began. Its length is that of the request.'),
  ...totalFields,
  changes: field(
    counts,
    'Objects that were created, changed or removed, by their kind, each where its latest change is; without kinds of which none was.',
  ),
}
