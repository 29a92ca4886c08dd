/** How a call fails: the service refuses it, or cannot be reached. */
import type { DeskwireError, ProblemError } from '@deskwire/sdk'

/** A problem response (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly errors: readonly ProblemError[]
  readonly requestId: string | null
  /** Seconds until it may be tried again; null: not said. */
  readonly retryAfter: number | null

  constructor({ status, code, detail, errors, requestId, retryAfterMs, problem }: DeskwireError) {
    super(detail)
    this.name = 'ApiProblem'
    this.status = status
    this.code = code
    this.title = problem.title
    this.errors = errors
    this.requestId = requestId ?? null
    this.retryAfter = retryAfterMs === undefined ? null : Math.ceil(retryAfterMs / 1_000)
  }
}

/** The user is offline, or the service is down. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('Cannot reach the service.', { cause })
    this.name = 'Unreachable'
  }
}

/** Whether the object that was asked for does not exist any more. */
export function isOfRemoved(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 404 || error.status === 410)
}

/** Whether another attempt may succeed. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof Unreachable ||
    (error instanceof ApiProblem && [408, 429, 502, 503, 504].includes(error.status))
  )
}
