/**
 * Parses a batch. It splits the bytes into items first and parses each by itself, so that none blocks the event loop
 * for longer than the body of one object may.
 */
import { readJson } from '@deskwire/sdk/json'
import { deepestNesting, endOfString, offloadBeyond, parseJson, tooDeep } from '../../http/read-body.ts'
import { type FieldError, type Problem, problem, validationFailed } from '../../kernel/errors.ts'
import { isObject } from '../../kernel/fields/field.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { yielder } from '../../kernel/yielding.ts'
import type { Kind } from '../model/kind.ts'

export const batchLimit = 1_000

export const batchBodyLimit = 16 * 1024 * 1024

/** The work of a byte, relative to one of an object: 4 KiB of smallest objects take as long as the worst 32 KiB. */
const timesAsLong = 8

const itemBytes = 1024 * 1024

/** With nested ones: no object has a third of them. */
export const itemValues = 1_000

/** Bytes around the items, `{"operation":"upsert","items":[]}`, with spaces. */
const aroundBytes = 4_096

export type SentItem = Result<unknown, Problem>

interface BatchBody {
  /** The body with a `0` instead of its items. */
  readonly around: unknown
  /** Null when `items` is no list, or absent. */
  readonly items: readonly SentItem[] | null
}

interface ItemRange {
  readonly from: number
  readonly end: number
  readonly values: number
}

interface Outline {
  readonly ranges: readonly ItemRange[]
  readonly around: readonly [before: Buffer, behind: Buffer]
}

/** Few bytes, for creations: an upsert may read and write large objects, and an escape may hide the word. */
export function isLightBatch(bytes: Buffer): boolean {
  return bytes.length * timesAsLong <= offloadBeyond && !bytes.includes('upsert') && !bytes.includes('\\')
}

/** Parses a batch item by item, and yields to the event loop in between. */
export async function readBatch(bytes: Buffer): Promise<Result<BatchBody, Problem>> {
  const outline = outlineOf(bytes)
  if ('code' in outline) return fail(outline)
  const { ranges, around } = outline
  const [before, behind] = around
  if (before.length + behind.length > aroundBytes) return fail(otherFields)
  const rest = parseJson(Buffer.concat([before, Buffer.from(ranges.length > 0 ? '0' : ''), behind]))
  if (!rest.ok) return rest
  if (before.length === bytes.length) return ok({ around: rest.value, items: null })
  const items: SentItem[] = []
  const yieldWhenDue = yielder()
  for (const [index, { from, end, values }] of ranges.entries()) {
    if (end - from > itemBytes) items.push(fail(tooLarge))
    else if (values > itemValues) items.push(fail(tooRich))
    else {
      const item = parseJson(bytes.subarray(from, end), true)
      if (!item.ok && item.error.code === 'malformed_json')
        return fail(problem('malformed_json', `Item ${index}: ${item.error.detail}`))
      items.push(item)
    }
    await yieldWhenDue()
  }
  return ok({ around: rest.value, items })
}

const tooLarge = problem(
  'body_too_large',
  `The item has more than ${itemBytes / 1024 / 1024} MiB, the most that one object may have. Send less.`,
)

const tooRich = validationFailed([
  { pointer: '', code: 'too_many', detail: `must be an object of at most ${itemValues} values in all` },
])

const accepted = `a list of 1 to ${batchLimit} objects`

const tooMany = validationFailed([
  { pointer: '/items', code: 'too_many', detail: `must be ${accepted}; it has more` },
])

const otherFields = validationFailed([
  {
    pointer: '',
    code: 'unknown_field',
    detail: 'The body must be a JSON object of operation and items: it has too many other members.',
  },
])

/** Bytes that are not JSON have an outline too: parsing the parts finds the error. */
function outlineOf(bytes: Buffer): Outline | Problem {
  const ranges: ItemRange[] = []
  let depth = 0
  let name = ''
  let text: readonly [from: number, end: number] = [0, 0]
  /** Where the items begin and end, and where the current one began. */
  let begin = -1
  let end = -1
  let from = 0
  let values = 0
  for (let n = 0; n < bytes.length; n++) {
    const byte = bytes[n]
    const within = begin !== -1 && end === -1
    if (byte === quote) {
      text = [n, endOfString(bytes, n + 1)]
      n = text[1] - 1
    } else if (byte === colon) {
      if (depth === 1) name = nameIn(bytes, text)
    } else if (byte === comma) {
      if (!within) continue
      values++
      if (depth > 2) continue
      ranges.push({ from, end: n, values })
      if (ranges.length === batchLimit) return tooMany
      from = n + 1
      values = 0
    } else if (byte === openingList || byte === openingObject) {
      if (++depth > deepestNesting) return tooDeep
      if (within) values++
      else if (begin === -1 && depth === 2 && byte === openingList && name === 'items') {
        begin = from = n + 1
      }
    } else if (byte === closingList || byte === closingObject) {
      if (--depth === 1 && within) end = n
    }
  }
  if (begin === -1) return { ranges, around: [bytes, bytes.subarray(bytes.length)] }
  if (end === -1) end = bytes.length
  const last = { from, end, values }
  if (ranges.length > 0 || !isBlank(bytes.subarray(from, end))) ranges.push(last)
  return { ranges, around: [bytes.subarray(0, begin), bytes.subarray(end)] }
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openingList = 0x5b
const closingList = 0x5d
const openingObject = 0x7b
const closingObject = 0x7d

/** A longer name in the outermost object cannot be `items`, with any escapes. */
const longestName = 64

function nameIn(bytes: Buffer, [from, end]: readonly [number, number]): string {
  if (end - from > longestName) return ''
  try {
    return readJson(bytes.toString('utf8', from, end)) as string
  } catch {
    return ''
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))
}

const batchOperations = ['create', 'import', 'upsert'] as const

export interface BatchRequest {
  /**
   * `upsert` changes the object with an item's externalId, as PATCH does, or creates it. `import` creates objects with
   * their past, without events, and leaves those that are there as they are.
   */
  readonly operation: (typeof batchOperations)[number]
  readonly items: readonly SentItem[]
}

export function operationsOf(kind: Kind) {
  return takesUpserts(kind) ? batchOperations : batchOperations.slice(0, 2)
}

export function takesUpserts(kind: Kind): boolean {
  return hasExternalId(kind) && !kind.immutable
}

/** Whether an import leaves objects that are there as they are. */
export function hasExternalId(kind: Kind): boolean {
  return kind.table.unique.some(({ field }) => field === 'externalId')
}

/** The request, or its refusal as a whole; items are validated later. */
export async function parseBatchRequest(
  kind: Kind,
  bytes: Buffer | null,
): Promise<Result<BatchRequest, Problem>> {
  if (bytes === null || bytes.length === 0) return refused(noObject)
  const read = await readBatch(bytes)
  if (!read.ok) return read
  const { around, items } = read.value
  if (!isObject(around)) return refused(noObject)
  const unknown = Object.keys(around).find((name) => name !== 'operation' && name !== 'items')
  if (unknown !== undefined) {
    const detail = 'a batch has no such field; accepted: operation, items'
    return refused({ pointer: `/${unknown}`, code: 'unknown_field', detail })
  }
  const { operation = 'create' } = around
  const operations = operationsOf(kind)
  const known = operations.find((name) => name === operation)
  if (known === undefined) {
    const detail = `must be ${operations.join(' or ')}${takesUpserts(kind) ? '' : `: a ${kind.name} ${kind.immutable ? 'never changes' : 'has no externalId to be found by'}`}`
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

const noObject: FieldError = {
  pointer: '',
  code: 'invalid_type',
  detail: 'The body must be a JSON object.',
}

function refused(error: FieldError): Result<never, Problem> {
  return fail(validationFailed([error]))
}
