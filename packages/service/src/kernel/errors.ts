/** Refusals as values: what the API answers when it does not do what was asked. */
import { errorCatalogue, type FieldError, type ProblemMembers } from './error-catalogue.ts'
import { parseId } from './ids.ts'

export {
  type FieldError,
  type FieldErrorCode,
  fieldErrorCodes,
  type ProblemMembers,
} from './error-catalogue.ts'

export type ErrorCode = keyof typeof errorCatalogue

/** An expected refusal: what the API answers, as a value. */
export interface Problem extends ProblemMembers {
  readonly code: ErrorCode
  /** One or two sentences: what is wrong, and what to do next. */
  readonly detail: string
}

/** A refusal. `code` decides the status; `detail` says what is wrong and what is accepted. */
export function problem(code: ErrorCode, detail: string, more: ProblemMembers = {}): Problem {
  return { code, detail, ...more }
}

/** 404 for an id that leads to nothing; `why` says how that comes about of what could be one. */
export function noSuch(what: string, id: string, why: string): Problem {
  return problem(
    'not_found',
    parseId(id) === null
      ? `There is no ${what} ${quoted(id)}: an id is a UUID, for example 01980000-0000-7000-8000-000000000003.`
      : `There is no ${what} ${id}. ${why}`,
  )
}

/** A value as an error shows it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** Wrong places that an answer lists: more than anyone reads, where a body of 1 MiB can have a hundred thousand. */
export const listedErrors = 100

/**
 * `validation_failed` with one entry per wrong place (specification 4.1), the first hundred of them. `more` is how many
 * there are at least that nobody made an entry of.
 */
export function validationFailed(errors: readonly FieldError[], more = 0): Problem {
  const [first] = errors
  const others = errors.length - 1 + more
  const told = others > 0 ? ` (and ${more > 0 ? 'at least ' : ''}${others} more, see errors)` : ''
  const where = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `
  return problem('validation_failed', `${where}${first?.detail ?? 'The body is not valid.'}${told}`, {
    errors: errors.slice(0, listedErrors),
  })
}

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
