/** Refusals as values: what the API answers when it does not do what was asked. */
import type { errorCatalogue, FieldError, ProblemMembers } from './error-catalogue.ts'

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
