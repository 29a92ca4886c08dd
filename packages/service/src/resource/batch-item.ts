/** One item of a batch: what it comes to, and how the answer shows that. */
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import {
  type ErrorCode,
  listedErrors,
  type Problem,
  type ProblemMembers,
  problem,
  validationFailed,
} from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import type { Kind, RuleContext, State } from './kind.ts'
import { parsePatch } from './validate.ts'

export type ItemOutcome =
  | { readonly outcome: 'created' | 'updated' | 'unchanged'; readonly id: string }
  | { readonly outcome: 'refused'; readonly problem: Problem }

/** An existing object as an item of an upsert leaves it: a PATCH that may repeat what only a creation can set. */
export function upserted(
  kind: Kind,
  before: State,
  item: unknown,
  context: RuleContext,
  listed: number,
): Result<State, Problem> {
  const patch = parsePatch(kind, before, withoutRepeats(kind, before, item), listed)
  if (!patch.ok) return patch
  const { draft, sent } = patch.value
  return kind.rules.update?.(before, draft, sent, context) ?? ok(draft)
}

/** Fields that are set at creation only and are sent as they are: whoever upserts sends whole objects. */
function withoutRepeats(kind: Kind, before: State, item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  return Object.fromEntries(
    Object.entries(item).filter(([name, value]) => {
      const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined
      if (field?.access !== 'create') return true
      const parsed = field.schema.safeParse(value)
      return JSON.stringify(parsed.success ? parsed.data : value) !== JSON.stringify(before[name])
    }),
  )
}

/** The externalId that an item of an upsert is found by. */
export function externalIdOf(kind: Kind, item: unknown): Result<string, Problem> {
  const value =
    typeof item === 'object' && item !== null ? (item as { externalId?: unknown }).externalId : undefined
  const field = kind.fields.externalId
  const parsed = field?.schema.safeParse(value)
  if (parsed?.success && typeof parsed.data === 'string') return ok(parsed.data)
  const code = value === undefined ? 'required' : 'invalid_type'
  const detail = `an upsert finds objects by it: must be ${field?.accepts ?? 'a string'}`
  return fail(validationFailed([{ pointer: '/externalId', code, detail }]))
}

/** The refusal of an item that an earlier one of the same call stands in the way of. */
export function repeats(earlier: number, id: string): Problem {
  const detail = `Item ${earlier} of this call is the same object, or has the same unique value. Send it in another call.`
  return problem('duplicate', detail, { existingId: id })
}

/**
 * Wrong places that the answer to a batch lists beyond the first of each item, so that it has an upper size: a hundred of
 * an item, as of an object by itself, and a thousand in all.
 */
export class ErrorShare {
  #left = 1_000

  /** How many the next item may list: its first in any case. */
  get listed(): number {
    return Math.min(listedErrors, 1 + this.#left)
  }

  /** An item that was refused has listed so many. */
  take({ errors }: Problem): void {
    if (errors !== undefined) this.#left -= Math.max(0, errors.length - 1)
  }
}

/** The refusal of an item that would have to read more than one call may. */
export function tooMuchToChange(mebibytes: number): Problem {
  const detail = `The objects that the items of this call change have more than ${mebibytes} MiB together. Send this item in another call.`
  return problem('body_too_large', detail)
}

/** The answer to a batch: an outcome for each item, in their order, and how many of each there are. */
export function batchAnswer(outcomes: readonly ItemOutcome[]): string {
  const counts = { created: 0, updated: 0, unchanged: 0, refused: 0 }
  for (const { outcome } of outcomes) counts[outcome]++
  return JSON.stringify({ data: outcomes.map(shownItem), ...counts })
}

/** An item as the answer shows it. */
export interface ShownItem {
  readonly index: number
  readonly outcome: string
  readonly status: number
  readonly id?: string
  /** What of a problem is the item's own. */
  readonly problem?: ProblemMembers & {
    readonly code: ErrorCode
    readonly title: string
    readonly detail: string
  }
}

/** The answer to a batch with each item as `show` makes it. */
export function withItems(answer: string, show: (item: ShownItem) => ShownItem): string {
  const { data, ...counts } = JSON.parse(answer) as { data: readonly ShownItem[] }
  return JSON.stringify({ data: data.map(show), ...counts })
}

function shownItem(item: ItemOutcome, index: number): ShownItem {
  const { outcome } = item
  if (item.outcome !== 'refused')
    return { index, outcome, status: outcome === 'created' ? 201 : 200, id: item.id }
  const { code, detail, errors, existingId } = item.problem
  const { status, title } = errorCatalogue[code]
  const members = { ...(errors && { errors }), ...(existingId && { existingId }) }
  return { index, outcome, status, problem: { code, title, detail, ...members } }
}
