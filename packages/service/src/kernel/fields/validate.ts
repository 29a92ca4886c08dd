/** Validates request bodies by a kind's fields. Once the list of errors is full, only names are checked. */
import type { z } from 'zod'
import {
  type FieldError,
  type FieldErrorCode,
  listedErrors,
  type Problem,
  quoted,
  validationFailed,
} from '../errors.ts'
import { fail, ok, type Result } from '../outcome.ts'
import { madeOnce } from '../shared-work.ts'
import { type Field, type Fields, isObject, type State } from './field.ts'

export interface Shape {
  readonly name: string
  readonly fields: Fields
  /** Fields outside of `fields` that only the service sets. */
  readonly shown?: readonly string[]
  /** Fields that only the service and an import set. */
  readonly imported?: readonly string[]
}

/** Fields that every object has and clients cannot set. */
const serviceFields = new Set(['id', 'object', 'organizationId', 'createdAt', 'updatedAt'])

/** The fields of a new object, with initial values. A refusal lists at most `most` errors, from 1 to 100. */
export function parseCreation(shape: Shape, body: unknown, most = listedErrors): Result<State, Problem> {
  const sent = parseFields(shape, body, 'create', most)
  if (!sent.ok) return sent
  const draft: Record<string, unknown> = {}
  for (const name of Object.keys(shape.fields)) {
    const field = shape.fields[name] as Field
    if (name in sent.value) {
      const value = sent.value[name]
      draft[name] = field.merge === undefined ? value : field.merge(field.initial, value)
    } else draft[name] = field.initial
  }
  return ok(draft)
}

interface Patch {
  readonly draft: State
  readonly sent: ReadonlySet<string>
}

/** `before` with the patch applied. A refusal lists at most `most` errors, from 1 to 100. */
export function parsePatch(
  shape: Shape,
  before: State,
  body: unknown,
  most = listedErrors,
): Result<Patch, Problem> {
  const sent = parseFields(shape, body, 'patch', most)
  if (!sent.ok) return sent
  const draft: Record<string, unknown> = { ...before }
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(sent.value)) {
    const field = shape.fields[name] as Field
    draft[name] = field.merge === undefined ? value : field.merge(before[name], value)
    // A merge can exceed a limit that neither value exceeds alone.
    if (field.merge !== undefined) {
      const merged = parseValue(field, `/${name}`, draft[name], most - errors.length)
      if (!merged.ok) errors.push(...merged.error)
    }
  }
  return errors.length > 0
    ? fail(validationFailed(errors))
    : ok({ draft, sent: new Set(Object.keys(sent.value)) })
}

function parseFields(
  shape: Shape,
  body: unknown,
  purpose: 'create' | 'patch',
  most: number,
): Result<Record<string, unknown>, Problem> {
  if (!isObject(body)) {
    return fail(
      validationFailed([
        {
          pointer: '',
          code: 'invalid_type',
          detail: `The body must be a JSON object; got ${typeName(body)}.`,
        },
      ]),
    )
  }
  const values: Record<string, unknown> = {}
  const errors: FieldError[] = []
  let uncounted = 0
  for (const name of Object.keys(body)) {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (errors.length >= most) {
      // The list is full: count unknown and read-only fields, and do not validate the others.
      if (field === undefined || field.access === 'read') uncounted++
    } else if (field === undefined || field.access === 'read') {
      errors.push(notWritable(shape, name))
    } else if (purpose === 'patch' && field.access === 'create') {
      errors.push({
        pointer: `/${name}`,
        code: 'read_only',
        detail: `${name} is set at creation and cannot change`,
      })
    } else {
      const parsed = parseValue(field, `/${name}`, body[name], most - errors.length)
      if (parsed.ok) values[name] = parsed.value
      else errors.push(...parsed.error)
    }
  }
  for (const name of purpose === 'create' ? Object.keys(shape.fields) : []) {
    const field = shape.fields[name] as Field
    if (field.initial !== undefined || Object.hasOwn(body, name)) continue
    if (errors.length >= most) uncounted++
    else
      errors.push({ pointer: `/${name}`, code: 'required', detail: `is required: must be ${field.accepts}` })
  }
  return errors.length > 0 ? fail(validationFailed(errors, uncounted)) : ok(values)
}

function parseValue(
  field: Field,
  pointer: string,
  value: unknown,
  most: number,
): Result<unknown, FieldError[]> {
  if (value === null) {
    if (field.nullable) return ok(null)
    const detail = `must be ${field.accepts}; null is not allowed`
    return fail([{ pointer, code: 'invalid_type', detail }])
  }
  const parsed = field.schema.safeParse(value)
  if (parsed.success) return ok(parsed.data)
  return fail(parsed.error.issues.slice(0, most).map((issue) => fieldError(field, { pointer, value }, issue)))
}

function notWritable(shape: Shape, name: string): FieldError {
  if (shape.imported?.includes(name))
    return {
      pointer: `/${name}`,
      code: 'read_only',
      detail: `${name} is set by the service, or by an import, which needs the scope import`,
    }
  const known = serviceFields.has(name) || shape.shown?.includes(name) || Object.hasOwn(shape.fields, name)
  if (known) return { pointer: `/${name}`, code: 'read_only', detail: `${name} is set by the service` }
  return {
    pointer: pointerWithin('', name),
    code: 'unknown_field',
    detail: `a ${shape.name} takes no such field; accepted: ${writableFields(shape)}`,
  }
}

/** Made once, as a body may have a hundred thousand unknown fields. */
const writableFields: (shape: Shape) => string = madeOnce(({ fields }) => {
  const names = Object.keys(fields).filter((name) => fields[name]?.access !== 'read')
  return names.join(', ') || 'none'
})

function fieldError(
  field: Field,
  { pointer, value }: { readonly pointer: string; readonly value: unknown },
  issue: z.core.$ZodIssue,
): FieldError {
  const { path } = issue
  const deeper = path.reduce((within: string, step) => pointerWithin(within, String(step)), '')
  const code = fieldErrorCode(issue)
  const got = code === 'invalid_type' ? `; got ${typeName(valueAt(value, path))}` : ''
  const because = issue.code === 'custom' && issue.params?.because ? `; ${issue.params.because}` : ''
  const unknown = issue.code === 'unrecognized_keys' ? `has no field ${listed(issue.keys)}; ` : ''
  return {
    pointer: pointer + deeper,
    code,
    detail: `${unknown}must be ${acceptedAt(field, path)}${got}${because}`,
  }
}

/** So many unknown names are in a message; a value can have a hundred thousand. */
const namesListed = 10

function listed(names: readonly string[]): string {
  const more = names.length > namesListed ? ` and ${names.length - namesListed} more` : ''
  return names.slice(0, namesListed).map(quoted).join(', ') + more
}

function acceptedAt({ accepts, acceptsWithin = accepts }: Field, path: readonly PropertyKey[]): string {
  if (path.length === 0) return accepts
  if (typeof acceptsWithin === 'string') return acceptsWithin
  return acceptsWithin[path.filter((step) => typeof step === 'string').join('.')] ?? accepts
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((within, step) => (within as Record<PropertyKey, unknown>)?.[step], value)
}

function typeName(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
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

/** A longer name is left out of a pointer, which then points to the parent. */
const longestStep = 255

export function pointerWithin(pointer: string, name: string): string {
  if (name.length > longestStep) return pointer
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
