/** Every error of the API. Responses, `openapi.json` and the pages below `/docs/errors/` are generated from it. */

/** One error in a request body. */
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

export interface ProblemMembers {
  readonly errors?: readonly FieldError[]
  /** For `duplicate`: the object that has the value; for `booking_conflict`: the other booking. */
  readonly existingId?: string
  /** For `receiver_not_verified`: in a word, why not. */
  readonly reason?: string
  /** For the operator's log only: nothing from a body, a query or a token. */
  readonly logged?: Readonly<Record<string, string>>
}

interface ErrorEntry {
  readonly status: number
  readonly title: string
  /** What happened. Markdown. */
  readonly means: string
  /** What to do next. Markdown. */
  readonly help: string
  /** Of `detail`. */
  readonly example: string
  /** Of its other members. */
  readonly with?: ProblemMembers
}

export const errorCatalogue = {
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    means: 'The service cannot read the bytes it received as an HTTP/1.1 request. The connection is closed.',
    help: 'Something between you and the service may have altered the request. Send it over a new connection.',
    example: 'This is not valid HTTP/1.1. The connection is closed.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not JSON that is accepted here',
    means:
      'The bytes of the body are not one JSON value in UTF-8, its objects and arrays are nested too deeply, or an object has the same name twice. Nothing was done.',
    help: 'Send one JSON object, UTF-8 encoded, at most 64 levels deep, each name once in its object, with `Content-Type: application/json`.',
    example: 'The body is not valid JSON in UTF-8: Unexpected end of JSON input.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A parameter or header is not valid',
    means:
      'A parameter of the query, a header or the path has a value that is not accepted, or the query has a parameter that this address does not take.',
    help: 'The detail names the parameter and what it accepts.',
    example: 'limit must be a whole number from 1 up (above 100 is served as 100); got "many".',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor is not one of this list',
    means:
      'A cursor belongs to one list of one organization, and contains a checksum: this one was altered, or belongs to another list or organization.',
    help: 'Send the `nextCursor` of this very list unchanged, or start again with `updatedAfter`.',
    example:
      'The cursor is not one of this list. Send the nextCursor of GET /v1/tickets unchanged, with a key of the same organization.',
  },
  filter_not_allowed_in_sync: {
    status: 400,
    title: 'A sync takes no filters',
    means:
      'A sync reports every row and every removal. With a filter, a copy would keep rows that no longer match it.',
    help: 'Send only `updatedAfter` or `cursor`, and `limit`. Filter on your side, or browse without a sync parameter.',
    example:
      'A sync takes limit, updatedAfter and cursor only; leave out status, or browse without a sync parameter.',
  },
  unauthorized: {
    status: 401,
    title: 'The API key is missing or unknown',
    means:
      'The service does not know who is calling: there is no Authorization header, it does not have the form Bearer and a key, or the key is unknown.',
    help: 'Send `Authorization: Bearer` with a key of this installation. A mistyped key fails its checksum.',
    example: 'Send the header Authorization: Bearer dwk_…, with an API key.',
  },
  key_expired: {
    status: 401,
    title: 'The API key has expired',
    means: 'The key has reached its expiry time, or this token of it was replaced more than a day ago.',
    help: 'Use another key of the organization, or make a new one: a key that has expired stays so. After a rotation, use the newer token.',
    example: 'This API key has expired. Make a new one.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key may not do this',
    means:
      'The key lacks the scope that this needs; or its organization is suspended, and none of its keys may do anything.',
    help: 'The detail names the scope, or says that the organization is suspended. Use a key that holds the scope; write does not imply read. If the organization is suspended, ask the operator of the service.',
    example: 'This needs a key with the scope tickets:write.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing at this address',
    means:
      'There is nothing at this address for this organization. Objects of other organizations are treated as if they did not exist.',
    help: 'The id is unknown to the organization of the key, or was removed, or the path is mistyped.',
    example:
      'There is no ticket 01980000-0000-7000-8000-000000000003. It may have been removed; check the id.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    means: 'The address exists, but takes other methods than this one.',
    help: 'The `Allow` header lists the methods that are.',
    example: 'PUT is not allowed here; allowed: DELETE, GET, HEAD, PATCH.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    means: 'Headers and body have to arrive within a minute. The connection is closed.',
    help: 'Send it again over a new connection.',
    example: 'The request did not arrive as a whole in time. Send it again.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    means:
      'The body has more bytes than this address accepts, or an item of a batch is too large, or the objects that the batch would change are. It was not read to its end.',
    help: 'A body has at most 1 MiB, that of a batch 16 MiB, and each of its items 1 MiB. A batch changes objects of 16 MiB together: send the others in another call.',
    example: 'The body has more than 1 MiB. Send less at once.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not supported',
    means: 'The body has a type, a charset or a content coding that the service does not read.',
    help: 'Send JSON in UTF-8, uncompressed, with `Content-Type: application/json`.',
    example: 'Send the body as JSON, with Content-Type: application/json; got "text/plain".',
  },
  duplicate: {
    status: 409,
    title: 'Another object already has this value',
    means:
      'A value that is unique within the organization, like an email address or an externalId, already belongs to another object.',
    help: '`existingId` names the object that has it: update that one, or send another value.',
    example: 'Another customer has this email: change that one, or send another value.',
    with: { existingId: '01980000-0000-7000-8000-000000000002' },
  },
  booking_conflict: {
    status: 409,
    title: 'The assignee has another booking at that time',
    means:
      'The organization prevents double booking, and the assignee has a pending or confirmed booking that overlaps with this one.',
    help: '`existingId` names the other booking: choose another time, or another teammate.',
    example:
      'The assignee has 01980000-0000-7000-8000-000000000002 at that time: choose another time, or another teammate.',
    with: { existingId: '01980000-0000-7000-8000-000000000002' },
  },
  delivery_succeeded: {
    status: 409,
    title: 'The delivery has succeeded',
    means: 'Only a failed delivery can be retried; the receiver answered this one with a 2xx.',
    help: 'The receiver has it: there is nothing to retry.',
    example: 'This delivery has succeeded: the receiver has it.',
  },
  delivery_failed: {
    status: 409,
    title: 'The delivery has failed',
    means: 'Only a delivery that has succeeded can be sent once more as a new one; this one has failed.',
    help: 'Retry it: POST …/retry sends it again.',
    example: 'This delivery has failed: retry it instead, with POST …/retry.',
  },
  delivery_skipped: {
    status: 409,
    title: 'The delivery was skipped',
    means:
      "The endpoint's conditions did not hold of this event, or it skips what its own key causes, so it was not sent.",
    help: "Change the endpoint's `conditions` or `skipOwn`, then recover: a recovery applies the present ones.",
    example:
      "The endpoint's conditions, skipOwn or coalesce left this event out: lastError says which. Change that, then recover.",
  },
  delivery_pending: {
    status: 409,
    title: 'The delivery is pending',
    means: 'Only a failed delivery can be retried; this one still has attempts left.',
    help: 'An attempt is coming at `nextAttemptAt`. Wait for it.',
    example: 'This delivery is pending: its next attempt is due at 2026-01-31T09:31:00.000Z. Wait for it.',
  },
  webhook_disabled: {
    status: 409,
    title: 'The endpoint is disabled',
    means: 'Nothing but pings is sent to a disabled endpoint, so a retry would not be sent.',
    help: '`disabledReason` says why. Fix that, PATCH `status` to `active`, then retry.',
    example: 'The endpoint is disabled (failing). Fix the cause, PATCH its status to active, then retry.',
  },
  limit_reached: {
    status: 409,
    title: 'The limit is reached',
    means:
      'The organization has as many of these as it may have, or stores as much as the operator allows, or the endpoint has as many signing secrets as it may have.',
    help: 'Delete what is not needed. Of secrets, `DELETE /v1/webhooks/{id}/previous-secret` ends all but the newest.',
    example: 'An organization has at most 50 endpoints. Delete one that is not needed.',
  },
  last_managing_key: {
    status: 409,
    title: 'No other key could manage keys',
    means:
      'The organization has no other usable key that can manage keys, so without this one nobody could create keys over HTTP.',
    help: 'Make another key with `api_keys:manage` first.',
    example:
      'No other usable key of the organization has api_keys:manage or *. Make one before this one loses it.',
  },
  invalid_transition: {
    status: 409,
    title: 'The state does not allow this move',
    means: 'The object is in a state that does not allow this move.',
    help: 'The detail names the current state and the moves it allows, to a key that may read the kind.',
    example: 'The ticket is pending and cannot become closed; allowed from pending: open, on_hold, resolved.',
  },
  ticket_closed: {
    status: 409,
    title: 'The ticket is closed',
    means:
      'Most fields of a closed ticket cannot change. A key that may not read tickets gets `invalid_transition` instead.',
    help: 'A closed ticket takes changes of `tags`, `subject`, `priority` and `customAttributes` only, and can be deleted.',
    example:
      'The ticket is closed: assigneeId cannot change. Only tags, subject, priority, customAttributes can.',
  },
  cursor_too_old: {
    status: 410,
    title: 'The cursor or the watermark is too old to continue from',
    means:
      'Either the database was restored from an older backup: changes that copies have received since are no longer in it. Cursors from before the restore cannot be continued, nor can an `updatedAfter` between the restored point and the restore. Or events after a cursor of `GET /v1/events` have been dropped.',
    help: 'In a sync, start again with an empty copy and `updatedAfter`. For events, bring your copy up to date with a sync, and start again without a cursor.',
    example:
      'The database was restored from a backup older than this cursor. Empty your copy and start again with updatedAfter=1970-01-01T00:00:00Z.',
  },
  version_mismatch: {
    status: 412,
    title: 'The object is not in the version that If-Match names',
    means:
      'The object has been written since the version that you have: by somebody else, or by a new release of the service, which shows more of it. Nothing was changed by this request.',
    help: 'Read it again, and send the change with its current `ETag`.',
    example:
      'If-Match does not name the current version, which is "2026-01-31T09:30:00.000Z". Read the object again, then send the change with its current ETag.',
  },
  validation_failed: {
    status: 422,
    title: 'The body does not follow the rules',
    means: 'The body is JSON, but breaks the rules of its fields. Nothing was changed.',
    help: '`errors` lists every field that is wrong, as a JSON pointer, and what it accepts.',
    example: '/subject: is required: must be a string of 1 to 255 characters (no U+0000)',
    with: {
      errors: [
        {
          pointer: '/subject',
          code: 'required',
          detail: 'is required: must be a string of 1 to 255 characters (no U+0000)',
        },
      ],
    },
  },
  url_not_https: {
    status: 422,
    title: 'The URL is not https',
    means: 'An endpoint was given an address that is not https.',
    help: 'Deliveries are sent over TLS only: give an https URL.',
    example:
      'The URL must begin with https://, not http:. Give an https URL of at most 2048 characters, without user information or fragment.',
  },
  url_not_public: {
    status: 422,
    title: 'The URL does not lead to a public address',
    means:
      'The name in the URL resolves to an address of a private, loopback or otherwise special network, or the URL is such an address itself. The answer does not say which; the log of the operator has it, with the `requestId`.',
    help: 'Every address of the name must be public. For a private network the operator can allow its addresses.',
    example: 'The URL leads to an address that is not public. Give a URL whose every address is public.',
  },
  url_not_resolvable: {
    status: 422,
    title: 'The name of the URL has no address',
    means: 'The name in the URL could not be resolved to an address.',
    help: 'Check the name, which must be the full one, and that its DNS servers answer; then send it again.',
    example:
      'receiver does not exist. Check the name, and write it in full: the search domains of the system are not used.',
  },
  receiver_not_verified: {
    status: 422,
    title: 'The receiver does not want deliveries',
    means:
      'The endpoint was to be registered with `verify`, and its URL did not answer the challenge, or could not be reached. Nothing was registered.',
    help: 'Let the receiver answer 2xx with `{"challenge": …}`, the value that it was sent. `reason` says in a word what happened.',
    example:
      'The receiver did not answer the challenge (challenge_failed). It must answer 2xx with {"challenge": …}, as it was sent.',
    with: { reason: 'challenge_failed' },
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used with another body',
    means:
      'The key was used for another request within the last 24 hours. To repeat its answer would be wrong, and so would making this request under the same key.',
    help: 'Use a new key for a new request; repeat a key only with the very same body.',
    example: 'The Idempotency-Key signup-7 was used with another body. Use a new key for a new request.',
  },
  rate_limited: {
    status: 429,
    title: 'There were too many requests',
    means:
      'The key has made more requests than its limit allows, its organization uses its whole share of the capacity, or too many unknown keys, or requests without a key, came from this address. Nothing was done.',
    help: 'Wait for the seconds of `Retry-After`. `RateLimit` and `RateLimit-Policy` say what is left of which limit.',
    example:
      'This key sent too many requests: its limit is 100 requests a second, 500 in a burst. Send it again after Retry-After.',
  },
  headers_too_large: {
    status: 431,
    title: 'Address and headers are too large',
    means:
      'The request line and the headers together have more bytes than the service reads. The connection is closed.',
    help: 'Together they have at most 16 KiB. Long values go into a body.',
    example:
      'The address and headers have more than 16 KiB together. Send less in them: long values go into a body.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side',
    means: 'Something unexpected happened in the service. Its log has the details, under the `requestId`.',
    help: 'The request may or may not have taken effect. Report the `requestId`; repeat it with the same `Idempotency-Key`.',
    example:
      'Something went wrong on our side, and the change may or may not have taken effect. Report the requestId.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    means:
      'The database cannot be reached, the service is too busy for this request, or the process that received the request is of an older release than the object. Nothing was changed.',
    help: 'Send it again after a moment, a POST with the same `Idempotency-Key`.',
    example:
      'The database cannot be reached or is too busy right now; nothing was changed. Send the request again.',
  },
} as const satisfies Record<string, ErrorEntry>
