/** The body of a batch: what is to be done, and to which items. */
import { type FieldError, type Problem, problem, validationFailed } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { type BatchFault, batchLimit, readBatch, type SentItem } from './batch-body.ts'
import type { Kind } from './kind.ts'

export const batchOperations = ['create', 'upsert'] as const

export interface BatchRequest {
  /** `upsert` changes the object that has an item's externalId, as PATCH does, and creates it where there is none. */
  readonly operation: (typeof batchOperations)[number]
  readonly items: readonly SentItem[]
}

/** Whether objects of this kind can be found by an id of the client's own. */
export function takesUpserts(kind: Kind): boolean {
  return kind.table.unique.some(({ field }) => field === 'externalId')
}

/** The request that a body makes, or what is wrong with it as a whole; items are looked at one by one later. */
export async function parseBatchRequest(
  kind: Kind,
  bytes: Buffer | null,
): Promise<Result<BatchRequest, Problem>> {
  if (bytes === null || bytes.length === 0) return refused(noObject)
  const read = await readBatch(bytes)
  if (!read.ok) return fail(faultProblem(read.error))
  const { around, items } = read.value
  if (typeof around !== 'object' || around === null || Array.isArray(around)) return refused(noObject)
  const unknown = Object.keys(around).find((name) => name !== 'operation' && name !== 'items')
  if (unknown !== undefined) {
    const detail = 'a batch has no such field; accepted: operation, items'
    return refused({ pointer: `/${unknown}`, code: 'unknown_field', detail })
  }
  const { operation = 'create' } = around as { operation?: unknown }
  const operations = takesUpserts(kind) ? batchOperations : batchOperations.slice(0, 1)
  const known = operations.find((name) => name === operation)
  if (known === undefined) {
    const detail = `must be ${operations.join(' or ')}${takesUpserts(kind) ? '' : `: a ${kind.name} has no externalId to be found by`}`
    return refused({ pointer: '/operation', code: 'invalid_value', detail })
  }
  if (items === null) {
    const code = 'items' in around ? 'invalid_type' : 'required'
    return refused({ pointer: '/items', code, detail: `must be ${accepted}` })
  }
  if (items.length === 0) {
    return refused({ pointer: '/items', code: 'required', detail: `must be ${accepted}; it has none` })
  }
  return ok({ operation: known, items })
}

const accepted = `a list of 1 to ${batchLimit} objects`

const noObject: FieldError = {
  pointer: '',
  code: 'invalid_type',
  detail: 'The body must be a JSON object.',
}

function faultProblem(fault: BatchFault): Problem {
  switch (fault.fault) {
    case 'malformed':
      return problem('malformed_json', fault.detail)
    case 'too_many':
      return validationFailed([
        { pointer: '/items', code: 'too_many', detail: `must be ${accepted}; it has more` },
      ])
    case 'other_fields':
      return validationFailed([
        {
          pointer: '',
          code: 'unknown_field',
          detail: 'The body must be a JSON object of operation and items: it has much beside them.',
        },
      ])
  }
}

function refused(error: FieldError): Result<never, Problem> {
  return fail(validationFailed([error]))
}
