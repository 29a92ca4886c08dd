/** Failures: everything that a call cannot answer is thrown as one class that carries the service's problem. */
import { readJson } from './json.ts'

/** One fault of a request body; `pointer` is a JSON pointer into it. */
export interface ProblemError {
  pointer: string
  code: string
  detail: string
}

/** An answer of `application/problem+json` (RFC 9457), with the members that some codes add, like `existingId`. */
export interface Problem {
  type: string
  title: string
  status: number
  code: string
  /** Says what to do next. */
  detail: string
  requestId?: string
  errors?: ProblemError[]
  [member: string]: unknown
}

/**
 * A call that failed. `code` tells failures apart; quote `requestId` when asking for help. Two codes are the
 * client's own: `connection_failed` (no answer arrived: `status` is 0, `cause` says why) and
 * `unexpected_answer` (something answered that is not a Deskwire service, a proxy for example).
 *
 * An aborted `signal` is no failure of this kind: its own reason is thrown.
 */
export class DeskwireError extends Error {
  override readonly name = 'DeskwireError'
  /** HTTP status; 0 when no answer arrived. */
  readonly status: number
  readonly code: string
  readonly detail: string
  /** The faults of the request body, for `validation_failed`; otherwise empty. */
  readonly errors: readonly ProblemError[]
  readonly requestId: string | undefined
  /** Milliseconds that the service asked to wait for, where it did (Retry-After). */
  readonly retryAfterMs: number | undefined
  /** The whole problem, with the members that belong to one code only. */
  readonly problem: Problem

  constructor(problem: Problem, more: { cause?: unknown; retryAfterMs?: number | undefined } = {}) {
    super(
      `${problem.status} ${problem.code}: ${problem.detail}`,
      'cause' in more ? { cause: more.cause } : {},
    )
    this.status = problem.status
    this.code = problem.code
    this.detail = problem.detail
    this.errors = problem.errors ?? []
    this.requestId = problem.requestId
    this.retryAfterMs = more.retryAfterMs
    this.problem = problem
  }
}

/** The error for a request to which no complete answer arrived; `detail` says why. */
export const connectionFailed = (
  cause: unknown,
  detail = 'No complete answer arrived. Check the base address and that the service is running.',
): DeskwireError =>
  new DeskwireError(
    {
      type: 'about:blank',
      title: 'Connection failed',
      status: 0,
      code: 'connection_failed',
      detail,
    },
    { cause },
  )

/** The error for an answer that a Deskwire service does not give. */
export const unexpectedAnswer = (status: number, detail: string, requestId?: string): DeskwireError =>
  new DeskwireError(unexpectedProblem(status, detail, requestId))

const unexpectedProblem = (status: number, detail: string, requestId?: string): Problem => ({
  type: 'about:blank',
  title: 'Unexpected answer',
  status,
  code: 'unexpected_answer',
  detail,
  ...(requestId === undefined ? {} : { requestId }),
})

/**
 * Reads the problem out of a failed answer. The status line wins over the body's `status`; a body that is no
 * problem becomes `unexpected_answer` with its first 200 characters.
 */
export const problemOf = (
  { status, url }: { status: number; url: string },
  requestId: string | undefined,
  text: string,
): Problem => {
  const body = parsed(text)
  if (!isProblem(body)) {
    const start = text.slice(0, 200)
    return unexpectedProblem(
      status,
      `${url} did not answer as Deskwire does. Check the base address, which ends in /v1, and proxies. The answer begins: ${start}`,
      requestId,
    )
  }
  return { ...body, status, ...(requestId === undefined ? {} : { requestId }) }
}

const parsed = (text: string): unknown => {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  typeof body.code === 'string' &&
  'detail' in body &&
  typeof body.detail === 'string' &&
  (!('errors' in body) || Array.isArray(body.errors))
