/**
 * Every error the API can answer with, once: status, title and what a caller does about it. The problem
 * answers, `openapi.json` and the error catalogue in the docs are all made from this table.
 */

export interface ErrorEntry {
  readonly status: number
  readonly title: string
  /** What to do next, for the catalogue. */
  readonly help: string
}

export const errorCatalogue = {
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    help: 'The connection is closed. Something between you and the service may have altered the request.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not JSON that is accepted here',
    help: 'Send one JSON object, UTF-8 encoded, at most 64 levels deep, with Content-Type: application/json.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A query or path parameter is not valid',
    help: 'The detail names the parameter and what it accepts.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor is not one of this list',
    help: 'Send the nextCursor of this very list unchanged, or start again with updatedAfter.',
  },
  filter_not_allowed_in_sync: {
    status: 400,
    title: 'A sync takes no filters',
    help: 'Send only updatedAfter or cursor, and limit. Filter on your side, or browse without a sync parameter.',
  },
  unauthorized: {
    status: 401,
    title: 'The API key is missing or unknown',
    help: 'Send Authorization: Bearer with a key of this installation. A mistyped key fails its checksum.',
  },
  key_expired: {
    status: 401,
    title: 'The API key has expired',
    help: 'Use another key of the organization, or make a new one: a key that has expired stays so. After a rotation, use the newer token.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key lacks a scope',
    help: 'The detail names the scope. Use a key that holds it; write does not imply read.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing at this address',
    help: 'The id is unknown to the organization of the key, or was removed, or the path is mistyped.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'The Allow header lists the methods that are.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    help: 'Headers and body have a minute to arrive. Send it again over a new connection.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    help: 'A body has at most 1 MiB, that of a batch 16 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not supported',
    help: 'Send Content-Type: application/json.',
  },
  duplicate: {
    status: 409,
    title: 'Another object already has this value',
    help: 'existingId names the object that has it: update that one, or send another value.',
  },
  delivery_succeeded: {
    status: 409,
    title: 'The delivery has succeeded',
    help: 'The receiver has it: there is nothing to retry.',
  },
  delivery_pending: {
    status: 409,
    title: 'The delivery is pending',
    help: 'An attempt is coming at nextAttemptAt. Wait for it.',
  },
  webhook_disabled: {
    status: 409,
    title: 'The endpoint is disabled',
    help: 'disabledReason says why. Mend it and PATCH status to active, then retry.',
  },
  limit_reached: {
    status: 409,
    title: 'There are as many as there may be',
    help: 'Delete one that is not needed.',
  },
  last_managing_key: {
    status: 409,
    title: 'No other key could manage keys',
    help: 'An organization keeps a living key with api_keys:manage. Make another one first.',
  },
  invalid_transition: {
    status: 409,
    title: 'The state does not allow this move',
    help: 'The detail names the current state and the moves it allows.',
  },
  ticket_closed: {
    status: 409,
    title: 'The ticket is closed',
    help: 'A closed ticket takes changes of tags, subject, priority and customAttributes only, and can be deleted.',
  },
  cursor_too_old: {
    status: 410,
    title: 'The cursor is from before a restore',
    help: 'The database was restored from an older backup. Start again with an empty copy and updatedAfter.',
  },
  version_mismatch: {
    status: 412,
    title: 'The object is not in the version that If-Match names',
    help: 'Read it again, and send the change with its current ETag.',
  },
  validation_failed: {
    status: 422,
    title: 'The body does not follow the rules',
    help: 'errors lists every field that is wrong, as a JSON pointer, and what it accepts.',
  },
  url_not_https: {
    status: 422,
    title: 'The URL is not https',
    help: 'Deliveries are sent over TLS only: give an https URL.',
  },
  url_not_public: {
    status: 422,
    title: 'The URL does not lead to a public address',
    help: 'Every address of the name must be public. For a private network the operator can allow its addresses.',
  },
  url_not_resolvable: {
    status: 422,
    title: 'The name of the URL has no address',
    help: 'Check the name, and that its DNS servers answer; then send it again.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used with another body',
    help: 'Use a new key for a new request; repeat a key only with the very same body.',
  },
  rate_limited: {
    status: 429,
    title: 'There were too many requests',
    help: 'Nothing was done. Wait for the seconds of Retry-After; RateLimit and RateLimit-Policy say what is left of which limit.',
  },
  headers_too_large: {
    status: 431,
    title: 'Address and headers are too large',
    help: 'Together they have at most 16 KiB.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side',
    help: 'The request may or may not have taken effect. Report the requestId; repeat it with the same Idempotency-Key.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    help: 'Send it again after a moment, a POST with the same Idempotency-Key.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** One wrong place in a request body. */
export interface FieldError {
  /** JSON pointer into the body (RFC 6901). */
  readonly pointer: string
  readonly code: FieldErrorCode
  readonly detail: string
}

export const fieldErrorCodes = [
  'required',
  'unknown_field',
  'read_only',
  'invalid_type',
  'invalid_format',
  'invalid_value',
  'too_short',
  'too_long',
  'too_many',
  'unknown_reference',
] as const

export type FieldErrorCode = (typeof fieldErrorCodes)[number]

/** An expected refusal: what the API answers, as a value. */
export interface Problem {
  readonly code: ErrorCode
  /** One or two sentences: what is wrong, and what to do next. */
  readonly detail: string
  readonly errors?: readonly FieldError[]
  /** For `duplicate`: the object that has the value. */
  readonly existingId?: string
}

/** A refusal. `code` decides the status; `detail` says what is wrong and what is accepted. */
export function problem(
  code: ErrorCode,
  detail: string,
  more: { errors?: readonly FieldError[]; existingId?: string } = {},
): Problem {
  return { code, detail, ...more }
}

/** More than anyone reads; a body of 1 MiB can be wrong in a hundred thousand places. */
const listedErrors = 100

/** `validation_failed` with one entry per wrong field (decisions, section 8), the first hundred of them. */
export function validationFailed(errors: readonly FieldError[]): Problem {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : ''
  const where = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `
  return problem('validation_failed', `${where}${first?.detail ?? 'The body is not valid.'}${more}`, {
    errors: errors.slice(0, listedErrors),
  })
}
