/** Request bodies against a declaration: what was sent becomes a draft, or a list of what is wrong. */
import type { z } from 'zod'
import { type FieldError, type FieldErrorCode, type Problem, validationFailed } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import type { Field, Fields } from './field.ts'
import type { State } from './kind.ts'

/** What a body is held against: a kind, or anything else with fields. */
export interface Shape {
  readonly name: string
  readonly fields: Fields
  readonly fieldNames: readonly string[]
  /** What its record shows besides, and the service sets; of a kind they are among the fields. */
  readonly shown?: readonly string[]
}

/** Fields that every object shows and nobody sets. */
const serviceFields = new Set(['id', 'object', 'organizationId', 'createdAt', 'updatedAt'])

/** The fields of a new object: what was sent, and initial values for the rest. */
export function parseCreation(shape: Shape, body: unknown): Result<State, Problem> {
  const sent = parseFields(shape, body, 'create')
  if (!sent.ok) return sent
  const draft: Record<string, unknown> = {}
  const errors: FieldError[] = []
  for (const name of shape.fieldNames) {
    const field = shape.fields[name] as Field
    if (name in sent.value) {
      const value = sent.value[name]
      draft[name] = field.merge === undefined ? value : field.merge(field.initial, value)
    } else if (field.initial === undefined) {
      errors.push({ pointer: `/${name}`, code: 'required', detail: `is required: must be ${field.accepts}` })
    } else draft[name] = field.initial
  }
  return errors.length > 0 ? fail(validationFailed(errors)) : ok(draft)
}

export interface Patch {
  readonly draft: State
  readonly sent: ReadonlySet<string>
}

/** `before` with the patch laid over it, and the names of the fields that the patch sent. */
export function parsePatch(shape: Shape, before: State, body: unknown): Result<Patch, Problem> {
  const sent = parseFields(shape, body, 'patch')
  if (!sent.ok) return sent
  const draft: Record<string, unknown> = { ...before }
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(sent.value)) {
    const field = shape.fields[name] as Field
    draft[name] = field.merge === undefined ? value : field.merge(before[name], value)
    // A merge can overfill what neither side does alone.
    if (field.merge !== undefined) errors.push(...valueErrors(field, `/${name}`, draft[name]))
  }
  return errors.length > 0
    ? fail(validationFailed(errors))
    : ok({ draft, sent: new Set(Object.keys(sent.value)) })
}

function parseFields(
  shape: Shape,
  body: unknown,
  purpose: 'create' | 'patch',
): Result<Record<string, unknown>, Problem> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return fail(
      validationFailed([{ pointer: '', code: 'invalid_type', detail: 'The body must be a JSON object.' }]),
    )
  }
  const values: Record<string, unknown> = {}
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(body)) {
    const pointer = `/${escapePointer(name)}`
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (field === undefined || field.access === 'read') {
      errors.push(notWritable(shape, name, pointer))
    } else if (purpose === 'patch' && field.access === 'create') {
      errors.push({ pointer, code: 'read_only', detail: `${name} is set at creation and cannot change` })
    } else if (value === null) {
      if (field.nullable) values[name] = null
      else
        errors.push({
          pointer,
          code: 'invalid_type',
          detail: `must be ${field.accepts}; null is not allowed`,
        })
    } else {
      const parsed = field.schema.safeParse(value)
      if (parsed.success) values[name] = parsed.data
      else errors.push(...parsed.error.issues.map((issue) => fieldError(field, pointer, issue)))
    }
  }
  return errors.length > 0 ? fail(validationFailed(errors)) : ok(values)
}

function notWritable(shape: Shape, name: string, pointer: string): FieldError {
  const known = serviceFields.has(name) || shape.shown?.includes(name) || Object.hasOwn(shape.fields, name)
  if (known) return { pointer, code: 'read_only', detail: `${name} is set by the service` }
  const accepted = shape.fieldNames.filter((other) => shape.fields[other]?.access !== 'read').join(', ')
  return {
    pointer,
    code: 'unknown_field',
    detail: `a ${shape.name} takes no such field; accepted: ${accepted || 'none'}`,
  }
}

function valueErrors(field: Field, pointer: string, value: unknown): FieldError[] {
  const parsed = field.schema.safeParse(value)
  return parsed.success ? [] : parsed.error.issues.map((issue) => fieldError(field, pointer, issue))
}

function fieldError(field: Field, pointer: string, issue: z.core.$ZodIssue): FieldError {
  const deeper = issue.path.map((step) => `/${escapePointer(String(step))}`).join('')
  const accepts = deeper === '' ? field.accepts : (field.acceptsEntry ?? field.accepts)
  return { pointer: pointer + deeper, code: fieldErrorCode(issue), detail: `must be ${accepts}` }
}

function fieldErrorCode(issue: z.core.$ZodIssue): FieldErrorCode {
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_union':
      return 'invalid_type'
    case 'too_small':
      return issue.origin === 'string' ? 'too_short' : 'invalid_value'
    case 'too_big':
      if (issue.origin !== 'string' && issue.origin !== 'array') return 'invalid_value'
      return issue.origin === 'array' ? 'too_many' : 'too_long'
    case 'invalid_format':
      return 'invalid_format'
    case 'unrecognized_keys':
      return 'unknown_field'
    case 'custom':
      return (issue.params?.code as FieldErrorCode | undefined) ?? 'invalid_value'
    default:
      return 'invalid_value'
  }
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
