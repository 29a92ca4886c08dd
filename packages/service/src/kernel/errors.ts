/** Refusals as values: the problem responses of the API. */
import { clipped } from '@deskwire/sdk/clipped'
import { errorCatalogue, type FieldError, type ProblemMembers } from './error-catalogue.ts'
import { parseId } from './ids.ts'

export {
  type FieldError,
  type FieldErrorCode,
  fieldErrorCodes,
  type ProblemMembers,
} from './error-catalogue.ts'

export type ErrorCode = keyof typeof errorCatalogue

/** An expected refusal, as a value. */
export interface Problem extends ProblemMembers {
  readonly code: ErrorCode
  /** One or two sentences: what is wrong, and what to do next. */
  readonly detail: string
}

/** `code` decides the status. */
export function problem(code: ErrorCode, detail: string, more: ProblemMembers = {}): Problem {
  return { code, detail, ...more }
}

/** 404 for an unknown id; `why` lists how a well-formed id can be unknown. */
export function noSuch(what: string, id: string, why: string): Problem {
  return problem(
    'not_found',
    parseId(id) === null
      ? `There is no ${what} ${quoted(id)}: an id is a UUID, for example 01980000-0000-7000-8000-000000000003.`
      : `There is no ${what} ${id}. ${why}`,
  )
}

/** As error messages show it. */
export function quoted(text: string): string {
  return JSON.stringify(clipped(text, 60))
}

/** Field errors in a response: a body of 1 MiB can have a hundred thousand. */
export const listedErrors = 100

/** 422 (specification 4.1), with up to `listedErrors` errors. `more`: how many others there are at least. */
export function validationFailed(errors: readonly FieldError[], more = 0): Problem {
  const [first] = errors
  const others = errors.length - 1 + more
  const ending = others > 0 ? ` (and ${more > 0 ? 'at least ' : ''}${others} more, see errors)` : ''
  const where = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `
  return problem('validation_failed', `${where}${first?.detail ?? 'The body is not valid.'}${ending}`, {
    errors: errors.slice(0, listedErrors),
  })
}

/** The page that explains the code, used as the `type` of its problems. */
export function errorPath(code: string): string {
  return `/docs/errors/${code}`
}

export function problemBody(refusal: Problem, requestId: string): Record<string, unknown> {
  const { code, detail, errors, existingId, reason } = refusal
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
    ...(reason === undefined ? {} : { reason }),
  }
}

/** For the documentation. */
export function exampleProblem(code: ErrorCode): Record<string, unknown> {
  const entry = errorCatalogue[code]
  const more = 'with' in entry ? entry.with : {}
  return problemBody(problem(code, entry.example, more), 'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d')
}
