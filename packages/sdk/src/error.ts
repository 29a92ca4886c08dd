/**
 * Failures: whatever a call cannot return is thrown as a DeskwireError; its class names the family, its `code` the
 * failure.
 */
import type { Open } from './envelope.ts'
import type { ErrorCode as ServiceErrorCode } from './generated.ts'

/** One fault of a request body; `pointer` is a JSON pointer into it. */
export interface ProblemError {
  pointer: string
  code: string
  detail: string
}

/**
 * What tells failures apart: a code of the service, or one of the client's own. `connection_failed`: no complete
 * response arrived, and `cause` says why. `unexpected_answer`: something responded that is not a Deskwire service, a
 * proxy for example.
 */
export type ErrorCode = Open<ServiceErrorCode | 'connection_failed' | 'unexpected_answer'>

/** A response of `application/problem+json` (RFC 9457), with the members that some codes add, like `existingId`. */
export interface Problem {
  type: string
  title: string
  status: number
  code: ErrorCode
  /** Says what to do next. */
  detail: string
  requestId?: string
  errors?: ProblemError[]
  [member: string]: unknown
}

export interface ErrorContext {
  cause?: unknown
  retryAfterMs?: number | undefined
  idempotencyKey?: string | undefined
}

/**
 * A call that failed, of any family. Quote `requestId` when asking for help.
 *
 * An aborted `signal` is no failure of this kind: its own reason is thrown.
 */
export class DeskwireError extends Error {
  override readonly name: string = 'DeskwireError'
  /** HTTP status; 0 when no response arrived. */
  readonly status: number
  readonly code: ErrorCode
  readonly detail: string
  /** The faults of the request body, for `validation_failed`; otherwise empty. */
  readonly errors: readonly ProblemError[]
  readonly requestId: string | undefined
  /** The key that the call carried, given or made by the client: repeat the call with it, and it is done once. */
  readonly idempotencyKey: string | undefined
  /** Milliseconds that the service asked to wait for (Retry-After), at most a day. */
  readonly retryAfterMs: number | undefined
  /** The whole problem, with the members that belong to one code only. */
  readonly problem: Problem

  constructor(problem: Problem, { cause, retryAfterMs, idempotencyKey }: ErrorContext = {}) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`, cause === undefined ? undefined : { cause })
    this.status = problem.status
    this.code = problem.code
    this.detail = problem.detail
    this.errors = problem.errors ?? []
    this.requestId = problem.requestId
    this.idempotencyKey = idempotencyKey
    this.retryAfterMs = retryAfterMs
    this.problem = problem
  }

  /** Whether the same call may succeed later: no response, 408, 429 and 5xx. */
  get isTransient(): boolean {
    return [0, 408, 429].includes(this.status) || this.status >= 500
  }
}

/**
 * The request is not accepted as it is: 400, 405, 413, 415, 422, 431. For `validation_failed`, `errors` names the
 * fields.
 */
export class InvalidRequestError extends DeskwireError {
  override readonly name = 'InvalidRequestError'
}

/** The key is unknown, expired or revoked: 401. */
export class AuthenticationError extends DeskwireError {
  override readonly name = 'AuthenticationError'
}

/** The key lacks a scope, or its organization is suspended: 403. */
export class PermissionDeniedError extends DeskwireError {
  override readonly name = 'PermissionDeniedError'
}

/** The object does not exist, or not any more: 404. */
export class NotFoundError extends DeskwireError {
  override readonly name = 'NotFoundError'
}

/** What is there by now does not allow it: 409, and 412 for `ifMatch`. */
export class ConflictError extends DeskwireError {
  override readonly name = 'ConflictError'
}

/** The service was restored from an older backup: 410. Begin an empty copy with a first sync. */
export class CursorTooOldError extends DeskwireError {
  override readonly name = 'CursorTooOldError'
}

/** Too many requests: 429. `retryAfterMs` says how long to wait. */
export class RateLimitError extends DeskwireError {
  override readonly name = 'RateLimitError'
}

/** The service failed: 408 and 5xx. */
export class ServerError extends DeskwireError {
  override readonly name = 'ServerError'
}

/** No complete response of a Deskwire service arrived: `connection_failed` or `unexpected_answer`. */
export class ConnectionFailedError extends DeskwireError {
  override readonly name = 'ConnectionFailedError'
}
