/** How a call fails: the service refuses it, or cannot be reached. */
import type { components } from '../generated/api.ts'

type FieldError = components['schemas']['FieldError']
type Problem = components['schemas']['Problem']

/** A problem response (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly errors: readonly FieldError[]
  readonly requestId: string | null
  readonly existingId: string | null
  /** Seconds until it may be tried again; null: not said. */
  readonly retryAfter: number | null

  constructor(status: number, problem: Partial<Problem>, headers: Headers) {
    super(problem.detail ?? `The service answered ${status}.`)
    this.name = 'ApiProblem'
    this.status = status
    this.code = problem.code ?? 'internal_error'
    this.title = problem.title ?? 'The service could not answer'
    this.errors = problem.errors ?? []
    this.requestId = problem.requestId ?? headers.get('x-request-id')
    this.existingId = problem.existingId ?? null
    const seconds = Number(headers.get('retry-after'))
    this.retryAfter = headers.has('retry-after') && Number.isFinite(seconds) ? seconds : null
  }
}

/** The user is offline, or the service is down. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The service could not be reached.', { cause })
    this.name = 'Unreachable'
  }
}

/** Whether another attempt may succeed. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof Unreachable ||
    (error instanceof ApiProblem && [408, 429, 502, 503, 504].includes(error.status))
  )
}
