/** A POST under its Idempotency-Key: the same request twice is one change and one answer. */
import type { ResponseToStore } from '../journal/change.ts'
import type { IdempotencyStore, StoredResponse } from './idempotency.ts'
import { type Outcome, refused, type Unchanged } from './replies.ts'

/** What is answered now, or the answer that was kept of the first such request. */
export type Once =
  | Exclude<Outcome<unknown>, { outcome: 'replayed' }>
  | { readonly outcome: 'kept'; readonly answer: StoredResponse }

/**
 * The first answer is given again, also to a twin that came at the same time. `run` makes the change, keeping its answer
 * under the record in the same commit; or says that the key had committed already, that there was nothing to change, or that
 * it refuses. An answer that nothing was changed for is kept here: given again, it makes no change that somebody else's has
 * made possible since. Where the key had committed, and before a refusal, the twin's answer is looked for again: what the
 * twin has changed may be the very reason of the refusal. Without a record, which is a request without the header, it runs
 * and nothing is kept.
 */
export async function answerOnce(
  store: IdempotencyStore,
  { organizationId, record }: { readonly organizationId: string; readonly record: ResponseToStore | null },
  run: () => Promise<Outcome<unknown> | Unchanged>,
): Promise<Once> {
  const before = await kept()
  if (before !== null) return before
  const outcome = await run()
  if (outcome.outcome === 'done') return outcome
  if (outcome.outcome === 'unchanged') {
    const { value, about } = outcome
    const keeping =
      record === null
        ? 'done'
        : await store.store(organizationId, record, { subjectId: about ?? organizationId, body: value })
    if (keeping === 'done') return { outcome: 'done', value }
  }
  const twin = await kept()
  if (twin !== null) return twin
  if (outcome.outcome === 'refused') return outcome
  throw new Error('an idempotency key committed, but its stored response cannot be found')

  async function kept(): Promise<Once | null> {
    if (record === null) return null
    const found = await store.find(organizationId, record)
    if (!found.ok) return refused(found.error)
    return found.value === null ? null : { outcome: 'kept', answer: found.value }
  }
}
