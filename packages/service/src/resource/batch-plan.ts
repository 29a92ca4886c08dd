/** What the items of a batch come to, each: a change to be committed, nothing to change, or a refusal. */
import { type Change, type Unit, uniqueKeys } from '../journal/change.ts'
import type { FoundRow } from '../journal/rows.ts'
import { mapInTurns } from '../kernel/breather.ts'
import type { Problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { SentItem } from './batch-body.ts'
import { ErrorShare, externalIdOf, type ItemOutcome, repeats, upserted } from './batch-item.ts'
import { type ChangeServices, parseNew } from './changes.ts'
import { planCreations } from './creations.ts'
import { alteration } from './decide.ts'
import type { State } from './kind.ts'
import { parseRepresentation } from './representation.ts'

export interface BatchItems {
  readonly items: readonly SentItem[]
  /** For upserts, the objects that there are, by externalId; null when all items are creations. */
  readonly existing: ReadonlyMap<string, FoundRow> | null
  /** Items that were refused when the batch was about to commit. */
  readonly refusals: ReadonlyMap<number, Problem>
}

/** The change that an item comes to. */
export interface Planned {
  readonly index: number
  readonly change: Change
}

export interface BatchPlan {
  readonly planned: readonly Planned[]
  /** What the creations change beside the new objects. */
  readonly rest: Required<Omit<Unit, 'idsOnly'>>
  /** What the answer says of each item, once the plan has committed. */
  readonly outcomes: readonly ItemOutcome[]
}

/** What one item wants: a new object, or an existing one in another state. */
type Intention =
  | { readonly to: 'create'; readonly draft: State }
  | { readonly to: 'update'; readonly row: FoundRow; readonly state: State }

/** Decides on every item, as things stand, in turns. */
export async function planBatch(
  services: ChangeServices,
  organizationId: string,
  { items, existing, refusals }: BatchItems,
): Promise<BatchPlan> {
  const { kind, clock } = services
  const share = new ErrorShare()
  const intentions = await mapInTurns(items, (item, index): Result<Intention, Problem> => {
    const refusal = refusals.get(index)
    if (refusal !== undefined) return fail(refusal)
    const intention = item.ok ? intentionOf(services, item.value, existing, share.listed) : item
    if (!intention.ok) share.take(intention.error)
    return intention
  })
  const drafts = intentions.flatMap((one) => (one.ok && one.value.to === 'create' ? [one.value.draft] : []))
  const { changes, rest } = await planCreations(services, organizationId, drafts, null)

  const creations = changes.values()
  const taken = createTaken()
  const planned: Planned[] = []
  const outcomes = await mapInTurns(intentions, (intention, index): ItemOutcome => {
    if (!intention.ok) return { outcome: 'refused', problem: intention.error }
    const decided = decide(intention.value)
    if (!decided.ok) return { outcome: 'refused', problem: decided.error }
    const { id, change } = decided.value
    const earlier = taken.by(index, id, change === null ? [] : uniqueKeys(change))
    if (earlier !== null) return { outcome: 'refused', problem: repeats(earlier.index, earlier.id) }
    if (change === null) return { outcome: 'unchanged', id }
    planned.push({ index, change })
    return { outcome: intention.value.to === 'create' ? 'created' : 'updated', id }
  })
  return { planned, rest, outcomes }

  /** The change that an intention comes to, null when it changes nothing; creations are taken in their order. */
  function decide(intention: Intention): Result<{ id: string; change: Change | null }, Problem> {
    if (intention.to === 'update') {
      const { row, state } = intention
      return ok({ id: row.id, change: alteration(kind, clock, row, state, null) })
    }
    const creation = creations.next().value
    if (creation === undefined) throw new Error('a creation has no plan')
    return creation.ok ? ok({ id: creation.value.id, change: creation.value }) : creation
  }
}

function intentionOf(
  { kind, clock }: ChangeServices,
  item: unknown,
  existing: ReadonlyMap<string, FoundRow> | null,
  listed: number,
): Result<Intention, Problem> {
  if (existing !== null) {
    const externalId = externalIdOf(kind, item)
    if (!externalId.ok) return externalId
    const row = existing.get(externalId.value)
    if (row !== undefined) {
      const before = parseRepresentation(kind, row).state
      const state = upserted(kind, before, item, { now: formatTimestamp(clock.now()) }, listed)
      return state.ok ? ok({ to: 'update', row, state: state.value }) : state
    }
  }
  const draft = parseNew(kind, item, clock, listed)
  return draft.ok ? ok({ to: 'create', draft: draft.value }) : draft
}

/** Rows and unique values that items have taken: each goes to the first, as no two changes of a call may share one. */
function createTaken() {
  const owners = new Map<string, { readonly index: number; readonly id: string }>()
  return {
    /** The earlier item that has one of them; null when they are this item's from now on. */
    by(index: number, id: string, values: readonly string[]) {
      const keys = [id, ...values]
      const earlier = keys.map((key) => owners.get(key)).find((owner) => owner !== undefined)
      if (earlier !== undefined) return earlier
      for (const key of keys) owners.set(key, { index, id })
      return null
    },
  }
}
