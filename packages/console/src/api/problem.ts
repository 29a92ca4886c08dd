/** What may become of a call other than its answer: the service refuses it, or cannot be reached. */
import type { components } from '../generated/api.ts'

type FieldError = components['schemas']['FieldError']
type Problem = components['schemas']['Problem']

/** The service has refused: RFC 9457, as it came. */
export class ApiProblem extends Error {
  readonly status: number
  /** What to decide by. */
  readonly code: string
  readonly title: string
  readonly errors: readonly FieldError[]
  readonly requestId: string | null
  readonly existingId: string | null
  /** In how many seconds it may be tried again, where the service says so. */
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

/** Nothing came back: the reader is offline, or the service is away. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The service could not be reached.', { cause })
    this.name = 'Unreachable'
  }
}

/** Whether another try may go better without anybody's doing. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof Unreachable ||
    (error instanceof ApiProblem && [408, 429, 502, 503, 504].includes(error.status))
  )
}
