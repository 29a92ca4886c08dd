/** Problems as they are sent and shown: the members of RFC 9457 and ours (specification 12.1). */
import { errorCatalogue } from './error-catalogue.ts'
import { type ErrorCode, type Problem, problem } from './errors.ts'

/** Where the code is explained: the `type` of its problems, a page that the service serves. */
export function errorPath(code: string): string {
  return `/docs/errors/${code}`
}

/** The body of a problem answer. */
export function problemBody(refusal: Problem, requestId: string): Record<string, unknown> {
  const { code, detail, errors, existingId } = refusal
  const { status, title } = errorCatalogue[code]
  return {
    type: errorPath(code),
    title,
    status,
    code,
    detail,
    requestId,
    ...(errors === undefined ? {} : { errors }),
    ...(existingId === undefined ? {} : { existingId }),
  }
}

/** A problem with this code as it can be answered, for the documents. */
export function exampleProblem(code: ErrorCode): Record<string, unknown> {
  const entry = errorCatalogue[code]
  const more = 'with' in entry ? entry.with : {}
  return problemBody(problem(code, entry.example, more), 'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d')
}
