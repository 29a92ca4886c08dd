/**
 * Many creations or upserts in one transaction (specification 8.1). Refused items are left out; when the journal
 * refuses one, all are decided again, so that the response is true at one moment.
 */
import type { Change, Refusal, RequestContext, ResponseToStore } from '../../journal/change.ts'
import type { FoundRow } from '../../journal/rows.ts'
import type { Problem } from '../../kernel/errors.ts'
import { done, fail, type Outcome, refused, retryOnConflict } from '../../kernel/outcome.ts'
import { bookingConflict, type ChangeServices, refusalProblem, tooBusy } from '../model/changes.ts'
import type { NamedReference } from '../model/imports.ts'
import { changedCharacters, tooMuchToChange } from '../model/units.ts'
import { type BatchRequest, hasExternalId, type SentItem } from './batch-body.ts'
import { batchAnswer, externalIdOf, type Planned, planBatch } from './batch-item.ts'
import { withNamedReferences } from './named-references.ts'

/** Objects that an upsert reads at once: some megabytes, of the largest objects. */
const readAtOnce = 50

export type WriteBatch = ReturnType<typeof createBatch>

/** Its value is the unredacted response. Where nothing changes, it is about an object of the response. */
export function createBatch(services: ChangeServices & { readonly references: readonly NamedReference[] }) {
  const { kind, rows, journal } = services

  return async (
    organizationId: string,
    { operation, items: sent }: BatchRequest,
    idempotency: ResponseToStore | null,
    context?: RequestContext,
  ): Promise<Outcome<string>> => {
    const refusals = new Map<number, Problem>()
    /** Items whose time an earlier item takes, with the place of that one: each attempt gives it another id. */
    const behind = new Map<number, number>()
    const result = await retryOnConflict<Outcome<string>>(async () => {
      const existing =
        operation === 'create' || !hasExternalId(kind)
          ? new Map<string, FoundRow>()
          : await findExisting(organizationId, sent, refusals)
      const isNew = (item: unknown) => {
        const externalId = externalIdOf(kind, item)
        return !externalId.ok || !existing.has(externalId.value)
      }
      const items =
        operation === 'import' ? await withNamedReferences(services, organizationId, sent, isNew) : sent
      const plan = await planBatch(services, organizationId, { operation, items, existing, refusals })
      const { planned, rest } = plan
      const outcomes = plan.outcomes.map((item, index) => {
        const earlier = plan.outcomes[behind.get(index) ?? -1]
        return earlier?.ok ? fail(bookingConflict(earlier.value.id)) : item
      })
      const answer = batchAnswer(outcomes)
      if (planned.length === 0) {
        const [about = null] = outcomes.flatMap((item) => (item.ok ? [item.value.id] : []))
        return { outcome: 'unchanged', value: answer, about }
      }
      const changes = [...storing(planned, idempotency, answer), ...rest.changes]
      const outcome = await journal.commitTogether(organizationId, {
        ...rest,
        changes,
        ...context,
      })
      if (outcome.outcome === 'done') return done(answer)
      if (outcome.outcome !== 'refused') return outcome
      for (const [index, problem] of finalRefusals(planned, outcome.error, operation)) {
        refusals.set(index, problem)
        const earlier = planned.find(({ change }) => change.id === problem.existingId)
        if (earlier !== undefined && problem.code === 'booking_conflict') behind.set(index, earlier.index)
      }
      return null
    })
    return result ?? refused(tooBusy)
  }

  /** Read some at a time. Beyond `changedCharacters`, items are refused. */
  async function findExisting(
    organizationId: string,
    items: readonly SentItem[],
    refusals: Map<number, Problem>,
  ): Promise<ReadonlyMap<string, FoundRow>> {
    const column = kind.table.unique.find(({ field }) => field === 'externalId')?.column.name
    if (column === undefined) throw new Error(`a ${kind.name} has no externalId`)
    const wanted = new Map<string, number[]>()
    for (const [index, item] of items.entries()) {
      const id = item.ok && !refusals.has(index) ? externalIdOf(kind, item.value) : null
      if (id?.ok) wanted.set(id.value, [...(wanted.get(id.value) ?? []), index])
    }
    const found = new Map<string, FoundRow>()
    const ids = [...wanted.keys()]
    let characters = 0
    for (let from = 0; from < ids.length; from += readAtOnce) {
      const some = ids.slice(from, from + readAtOnce)
      if (characters > changedCharacters) {
        for (const index of some.flatMap((id) => wanted.get(id) ?? [])) refusals.set(index, tooMuchToChange)
        continue
      }
      for (const row of await rows(kind).withUnique(organizationId, column, some)) {
        found.set(row.target, row)
        characters += row.body.length
      }
    }
    return found
  }

  /** Refusals that another attempt would not change. */
  function finalRefusals(
    planned: readonly Planned[],
    refusals: ReadonlyMap<string, Refusal>,
    operation: BatchRequest['operation'],
  ): [index: number, problem: Problem][] {
    return planned.flatMap(({ index, change }): [number, Problem][] => {
      const refusal = refusals.get(change.id)
      if (refusal === undefined || refusal.reason === 'conflict') return []
      // The object was created since it was looked up: the next attempt changes it.
      if (operation !== 'create' && change.operation === 'insert' && isOfExternalId(refusal)) return []
      return [[index, refusalProblem(kind, refusal)]]
    })
  }
}

/** The first has the response to store. */
function storing(planned: readonly Planned[], idempotency: ResponseToStore | null, answer: string): Change[] {
  const record = idempotency === null ? null : { ...idempotency, body: answer }
  return planned.map(({ change }, n) => (n === 0 ? { ...change, idempotency: record } : change))
}

function isOfExternalId(refusal: Refusal): boolean {
  return 'field' in refusal && refusal.field === 'externalId'
}
