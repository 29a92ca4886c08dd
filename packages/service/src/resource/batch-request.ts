/** The body of a batch: what is to be done, and to which items. */
import { type FieldError, type Problem, validationFailed } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import type { Kind } from './kind.ts'

/** Items of one batch. */
export const batchLimit = 1_000

/** Bytes of a batch's body: 16 MiB. */
export const batchBodyLimit = 16 * 1024 * 1024

export const batchOperations = ['create', 'upsert'] as const

export interface BatchRequest {
  /** `upsert` changes the object that has an item's externalId, as PATCH does, and creates it where there is none. */
  readonly operation: (typeof batchOperations)[number]
  readonly items: readonly unknown[]
}

/** Whether objects of this kind can be found by an id of the client's own. */
export function takesUpserts(kind: Kind): boolean {
  return kind.table.unique.some(({ field }) => field === 'externalId')
}

/** The request that a body makes, or what is wrong with it as a whole; items are looked at one by one later. */
export function parseBatchRequest(kind: Kind, body: unknown): Result<BatchRequest, Problem> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refused({ pointer: '', code: 'invalid_type', detail: 'The body must be a JSON object.' })
  }
  const unknown = Object.keys(body).find((name) => name !== 'operation' && name !== 'items')
  if (unknown !== undefined) {
    const detail = 'a batch has no such field; accepted: operation, items'
    return refused({ pointer: `/${unknown}`, code: 'unknown_field', detail })
  }
  const { operation = 'create', items } = body as { operation?: unknown; items?: unknown }
  const operations = takesUpserts(kind) ? batchOperations : batchOperations.slice(0, 1)
  const known = operations.find((name) => name === operation)
  if (known === undefined) {
    const detail = `must be ${operations.join(' or ')}${takesUpserts(kind) ? '' : `: a ${kind.name} has no externalId to be found by`}`
    return refused({ pointer: '/operation', code: 'invalid_value', detail })
  }
  const accepted = `a list of 1 to ${batchLimit} objects`
  if (!Array.isArray(items)) {
    const code = items === undefined ? 'required' : 'invalid_type'
    return refused({ pointer: '/items', code, detail: `must be ${accepted}` })
  }
  if (items.length === 0 || items.length > batchLimit) {
    const code = items.length === 0 ? 'required' : 'too_many'
    return refused({ pointer: '/items', code, detail: `must be ${accepted}; it has ${items.length}` })
  }
  return ok({ operation: known, items })
}

function refused(error: FieldError): Result<never, Problem> {
  return fail(validationFailed([error]))
}
