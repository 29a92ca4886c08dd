/**
 * Many creations or upserts in one transaction, with an outcome for each: what is refused is left out, and all the
 * rest commits together. Some refusals show only when the batch is about to commit; what is left is then decided
 * again, so that the answer is true of one moment.
 */
import type { Change, IdempotencyRecord, UnitOutcome } from '../journal/change.ts'
import { decideAnew } from '../kernel/decide-anew.ts'
import type { Problem } from '../kernel/errors.ts'
import { batchAnswer, externalIdOf } from './batch-item.ts'
import { type Planned, planBatch } from './batch-plan.ts'
import type { BatchRequest } from './batch-request.ts'
import type { ChangeServices } from './changes.ts'
import { refusalProblem, tooBusy } from './outcomes.ts'

export type BatchResult =
  /** Committed, and kept with what it is about: the answer as it is sent to who may read the kind. */
  | { readonly outcome: 'done'; readonly answer: string }
  /** There was nothing to commit, and no answer is kept yet. `about`: an object that it names, null when it names none. */
  | { readonly outcome: 'unchanged'; readonly answer: string; readonly about: string | null }
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** The Idempotency-Key had committed already. */
  | { readonly outcome: 'replayed' }

export interface Batch {
  run(
    organizationId: string,
    request: BatchRequest,
    idempotency: IdempotencyRecord | null,
  ): Promise<BatchResult>
}

/** Batches of one kind. */
export function createBatch(services: ChangeServices): Batch {
  const { kind, rows, journal } = services

  return {
    async run(organizationId, { operation, items }, idempotency) {
      const refusals = new Map<number, Problem>()
      const result = await decideAnew<BatchResult>(async () => {
        const existing = operation === 'upsert' ? await findExisting(organizationId, items) : null
        const plan = await planBatch(services, organizationId, { items, existing, refusals })
        const { planned, rest } = plan
        const answer = batchAnswer(plan.outcomes)
        if (planned.length === 0) {
          const [about = null] = plan.outcomes.flatMap((item) =>
            item.outcome === 'refused' ? [] : [item.id],
          )
          return { outcome: 'unchanged', answer, about }
        }
        const changes = [...keeping(planned, idempotency, answer), ...rest.changes]
        const outcome = await journal.commitTogether(organizationId, { ...rest, changes })
        if (outcome.outcome === 'done') return { outcome: 'done', answer }
        if (isReplay(outcome)) return { outcome: 'replayed' }
        for (const [index, problem] of lasting(planned, outcome, operation)) refusals.set(index, problem)
        return null
      })
      return result ?? { outcome: 'refused', problem: tooBusy }
    },
  }

  /** The objects that there are, by the externalIds of the items. */
  async function findExisting(organizationId: string, items: readonly unknown[]) {
    const column = kind.table.unique.find(({ field }) => field === 'externalId')?.column.name
    if (column === undefined) throw new Error(`a ${kind.name} has no externalId`)
    const wanted = items.map((item) => externalIdOf(kind, item)).flatMap((id) => (id.ok ? [id.value] : []))
    const found = await rows(kind).withUnique(organizationId, column, [...new Set(wanted)])
    return new Map(found.map((row) => [row.target, row]))
  }

  /** Refusals that stay, whatever is decided anew. All else has moved on, and is read again. */
  function lasting(
    planned: readonly Planned[],
    { refusals }: Extract<UnitOutcome, { outcome: 'refused' }>,
    operation: BatchRequest['operation'],
  ): [index: number, problem: Problem][] {
    return planned.flatMap(({ index, change }): [number, Problem][] => {
      const refusal = refusals.get(change.id)
      if (refusal?.outcome !== 'duplicate' && refusal?.outcome !== 'dangling') return []
      // The object has come into being since it was looked for: now it is there to be changed.
      if (operation === 'upsert' && change.operation === 'create' && refusal.field === 'externalId') return []
      return [[index, refusalProblem(kind, refusal)]]
    })
  }
}

/** The changes of the items; the first keeps the answer, for the Idempotency-Key. */
function keeping(
  planned: readonly Planned[],
  idempotency: IdempotencyRecord | null,
  answer: string,
): Change[] {
  const record = idempotency === null ? null : { ...idempotency, body: answer }
  return planned.map(({ change }, n) => (n === 0 ? { ...change, idempotency: record } : change))
}

function isReplay({ refusals }: Extract<UnitOutcome, { outcome: 'refused' }>): boolean {
  return [...refusals.values()].some(({ outcome }) => outcome === 'replayed')
}
