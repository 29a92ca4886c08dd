/** Refusals as values: what the API answers when it does not do what was asked. */
import type { errorCatalogue } from './error-catalogue.ts'

export type ErrorCode = keyof typeof errorCatalogue

/** One wrong place in a request body. */
export interface FieldError {
  /** JSON pointer into the body (RFC 6901). */
  readonly pointer: string
  readonly code: FieldErrorCode
  readonly detail: string
}

export const fieldErrorCodes = [
  'required',
  'unknown_field',
  'read_only',
  'invalid_type',
  'invalid_format',
  'invalid_value',
  'too_short',
  'too_long',
  'too_many',
  'unknown_reference',
] as const

export type FieldErrorCode = (typeof fieldErrorCodes)[number]

/** What a problem can say beside its code and detail. */
export interface ProblemMembers {
  readonly errors?: readonly FieldError[]
  /** For `duplicate`: the object that has the value. */
  readonly existingId?: string
  /** What the operator's log says of it, and the client is not told: nothing of a body, a query or a token. */
  readonly logged?: Readonly<Record<string, string>>
}

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

/** More than anyone reads; a body of 1 MiB can be wrong in a hundred thousand places. */
const listedErrors = 100

/** `validation_failed` with one entry per wrong field (decisions, section 8), the first hundred of them. */
export function validationFailed(errors: readonly FieldError[]): Problem {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : ''
  const where = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `
  return problem('validation_failed', `${where}${first?.detail ?? 'The body is not valid.'}${more}`, {
    errors: errors.slice(0, listedErrors),
  })
}
