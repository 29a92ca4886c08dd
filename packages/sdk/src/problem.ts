/** Makes the error of a failed call: of the problem that the service returned, or of what came instead. */
import {
  AuthenticationError,
  ConflictError,
  ConnectionFailedError,
  CursorTooOldError,
  type DeskwireError,
  type ErrorContext,
  InvalidRequestError,
  NotFoundError,
  PermissionDeniedError,
  type Problem,
  RateLimitError,
  ServerError,
} from './error.ts'
import { readJson } from './json.ts'

/** The families of single statuses. */
const families: Readonly<Record<number, new (problem: Problem, context: ErrorContext) => DeskwireError>> = {
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  408: ServerError,
  409: ConflictError,
  410: CursorTooOldError,
  412: ConflictError,
  429: RateLimitError,
}

/** The error for a request to which no complete response arrived; `detail` says why. */
export const connectionFailed = (
  cause: unknown,
  detail = 'No complete answer arrived. Check the base address and that the service is running.',
  context: ErrorContext = {},
): DeskwireError =>
  new ConnectionFailedError(
    { type: 'about:blank', title: 'Connection failed', status: 0, code: 'connection_failed', detail },
    { ...context, cause },
  )

/** The error for a response that a Deskwire service does not give. */
export const unexpectedAnswer = (
  status: number,
  detail: string,
  requestId?: string,
  context: ErrorContext = {},
): DeskwireError => {
  const problem = {
    type: 'about:blank',
    title: 'Unexpected answer',
    status,
    code: 'unexpected_answer',
    detail,
  }
  return new ConnectionFailedError(requestId === undefined ? problem : { ...problem, requestId }, context)
}

/**
 * Reads the error out of a failed response. The status line wins over the body's `status`; a body that is no
 * problem becomes `unexpected_answer` with its first 200 characters.
 */
export const errorOf = (
  { status, address, requestId }: { status: number; address: string; requestId: string | undefined },
  text: string,
  context: ErrorContext,
): DeskwireError => {
  const body = parsed(text)
  if (!isProblem(body)) {
    const detail = `${address} did not answer as Deskwire does. Check the base address and proxies. The answer begins: ${text.slice(0, 200)}`
    return unexpectedAnswer(status, detail, requestId, context)
  }
  const Family = families[status] ?? (status < 500 ? InvalidRequestError : ServerError)
  return new Family({ ...body, status, ...(requestId === undefined ? {} : { requestId }) }, context)
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
