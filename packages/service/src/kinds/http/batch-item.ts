/** Items of a batch: the decision on each, and its part of the response. */
import { readJson } from '@deskwire/sdk/json'
import type { Change, RequestContext, Unit } from '../../journal/change.ts'
import { uniqueKeys } from '../../journal/group-commit.ts'
import type { FoundRow } from '../../journal/rows.ts'
import { errorCatalogue } from '../../kernel/error-catalogue.ts'
import {
  type ErrorCode,
  listedErrors,
  type Problem,
  type ProblemMembers,
  problem,
  validationFailed,
} from '../../kernel/errors.ts'
import { isObject } from '../../kernel/fields/field.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { mapYielding } from '../../kernel/yielding.ts'
import { type ChangeServices, parseChange, parseNew } from '../model/changes.ts'
import { parseImport } from '../model/imports.ts'
import type { Kind, State } from '../model/kind.ts'
import { type NewObject, parseRepresentation, updateChange } from '../model/representation.ts'
import { planInserts } from '../model/units.ts'
import type { BatchRequest, SentItem } from './batch-body.ts'
import { withoutState } from './redact-writes.ts'

type ItemOutcome = Result<
  { readonly id: string; readonly outcome: 'created' | 'updated' | 'unchanged' },
  Problem
>

/** Without fields that only a creation sets, where the item repeats them: clients upsert whole objects. */
function withoutRepeats(kind: Kind, before: State, item: unknown): unknown {
  if (!isObject(item)) return item
  return Object.fromEntries(
    Object.entries(item).filter(([name, value]) => {
      const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined
      if (field?.access !== 'create') return true
      const parsed = field.schema.safeParse(value)
      return JSON.stringify(parsed.success ? parsed.data : value) !== JSON.stringify(before[name])
    }),
  )
}

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

/** Refuses an item that conflicts with an earlier one of the same call. */
function repeats(earlier: number, id: string): Problem {
  const detail = `Item ${earlier} of this call is the same object, or has the same unique value. Send it in another call.`
  return problem('duplicate', detail, { existingId: id })
}

/** Bounds the response: a hundred errors for an item, and a thousand beyond the first of each. */
class ErrorShare {
  #left = 1_000

  /** Errors that the next item may list: at least one. */
  get listed(): number {
    return Math.min(listedErrors, 1 + this.#left)
  }

  take({ errors }: Problem): void {
    if (errors !== undefined) this.#left -= Math.max(0, errors.length - 1)
  }
}

/** The response: an outcome for each item, in their order, and the number of each outcome. */
export function batchAnswer(outcomes: readonly ItemOutcome[]): string {
  const counts = { created: 0, updated: 0, unchanged: 0, refused: 0 }
  for (const item of outcomes) counts[item.ok ? item.value.outcome : 'refused']++
  return JSON.stringify({ data: outcomes.map(shownItem), ...counts })
}

interface ShownItem {
  readonly index: number
  readonly outcome: string
  readonly status: number
  readonly id?: string
  readonly problem?: ProblemMembers & {
    readonly code: ErrorCode
    readonly title: string
    readonly detail: string
  }
}

/** Redacts the response for a key that may not read the kind. */
export function redactBatch(kind: Kind, answer: string): string {
  const { data, ...counts } = readJson(answer) as { data: readonly ShownItem[] }
  const redacted = data.map((item): ShownItem => {
    const refusal = item.problem === undefined ? null : withoutState(kind, item.problem)
    if (refusal === null) return item
    const { code, detail } = refusal
    return { ...item, problem: { code, title: errorCatalogue[code].title, detail } }
  })
  return JSON.stringify({ data: redacted, ...counts })
}

function shownItem(item: ItemOutcome, index: number): ShownItem {
  if (item.ok) {
    const { id, outcome } = item.value
    return { index, outcome, status: outcome === 'created' ? 201 : 200, id }
  }
  const { code, detail, errors, existingId } = item.error
  const { status, title } = errorCatalogue[code]
  const members = { ...(errors && { errors }), ...(existingId && { existingId }) }
  return { index, outcome: 'refused', status, problem: { code, title, detail, ...members } }
}

interface BatchItems {
  readonly operation: BatchRequest['operation']
  readonly items: readonly SentItem[]
  /** For upserts and imports, the existing objects by externalId. */
  readonly existing: ReadonlyMap<string, FoundRow>
  /** Items that the journal refused. */
  readonly refusals: ReadonlyMap<number, Problem>
}

export interface Planned {
  readonly index: number
  readonly change: Change
}

interface BatchPlan {
  readonly planned: readonly Planned[]
  /** The changes of other objects that the creations cause. */
  readonly rest: Required<Omit<Unit, 'span' | keyof RequestContext>>
  /** The outcome of each item once the plan has committed. */
  readonly outcomes: readonly ItemOutcome[]
}

type Intention =
  | { readonly to: 'create'; readonly draft: NewObject }
  | { readonly to: 'keep'; readonly id: string }
  | { readonly to: 'update'; readonly row: FoundRow; readonly state: State }

/** Decides on every item, and yields to the event loop in between. */
export async function planBatch(
  services: ChangeServices,
  organizationId: string,
  batch: BatchItems,
): Promise<BatchPlan> {
  const { kind, clock } = services
  const { items, refusals } = batch
  const share = new ErrorShare()
  const intentions = await mapYielding(items, (item, index): Result<Intention, Problem> => {
    const refusal = refusals.get(index)
    if (refusal !== undefined) return fail(refusal)
    const intention = item.ok ? intentionOf(services, batch, item.value, share.listed) : item
    if (!intention.ok) share.take(intention.error)
    return intention
  })
  const drafts = intentions.flatMap((one) => (one.ok && one.value.to === 'create' ? [one.value.draft] : []))
  const { changes, rest } = await planInserts(services, organizationId, drafts, null)

  const creations = changes.values()
  /** Rows and unique values of the items so far, as no two changes of a call may share one. */
  const owners = new Map<string, { readonly index: number; readonly id: string }>()
  const planned: Planned[] = []
  const outcomes = await mapYielding(intentions, (intention, index): ItemOutcome => {
    if (!intention.ok) return intention
    const decided = decide(intention.value)
    if (!decided.ok) return decided
    const { id, change } = decided.value
    const keys = [id, ...(change === null ? [] : uniqueKeys(change))]
    const earlier = keys.map((key) => owners.get(key)).find((owner) => owner !== undefined)
    if (earlier !== undefined) return fail(repeats(earlier.index, earlier.id))
    for (const key of keys) owners.set(key, { index, id })
    if (change === null) return ok({ id, outcome: 'unchanged' })
    planned.push({ index, change })
    return ok({ id, outcome: intention.value.to === 'create' ? 'created' : 'updated' })
  })
  return { planned, rest, outcomes }

  /** The change of an intention; null: nothing changes. Takes creations in their order. */
  function decide(intention: Intention): Result<{ id: string; change: Change | null }, Problem> {
    if (intention.to === 'keep') return ok({ id: intention.id, change: null })
    if (intention.to === 'update') {
      const { row, state } = intention
      return ok({ id: row.id, change: updateChange(kind, clock, row, state, null) })
    }
    const creation = creations.next().value
    if (creation === undefined) throw new Error('a creation has no plan')
    return creation.ok ? ok({ id: creation.value.id, change: creation.value }) : creation
  }
}

function intentionOf(
  { kind, clock }: ChangeServices,
  { operation, existing }: BatchItems,
  item: unknown,
  listed: number,
): Result<Intention, Problem> {
  if (operation === 'import') {
    const externalId = externalIdOf(kind, item)
    const row = externalId.ok ? existing.get(externalId.value) : undefined
    if (row !== undefined) return ok({ to: 'keep', id: row.id })
    const draft = parseImport(kind, item, clock, listed)
    return draft.ok ? ok({ to: 'create', draft: draft.value }) : draft
  }
  if (operation === 'upsert') {
    const externalId = externalIdOf(kind, item)
    if (!externalId.ok) return externalId
    const row = existing.get(externalId.value)
    if (row !== undefined) {
      const before = parseRepresentation(kind, row).state
      // Like a PATCH, but it may repeat what only a creation can set.
      const state = parseChange(kind, before, withoutRepeats(kind, before, item), clock, listed)
      return state.ok ? ok({ to: 'update', row, state: state.value }) : state
    }
  }
  const draft = parseNew(kind, item, clock, listed)
  return draft.ok ? ok({ to: 'create', draft: { state: draft.value, createdAt: null } }) : draft
}
