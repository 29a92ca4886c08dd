/** Changes to and from the JSON of the commit function (commit-function.ts). */
import type { Change, CommitOutcome } from './change.ts'
import { digestTerm } from './digest.ts'

/** The function's argument for one organization's changes. */
export function encodeChanges(changes: readonly Change[], maxAttempts: number): string {
  const call: Record<string, unknown[]> = { events: [] }
  for (const change of changes) {
    const section = `${change.table.kind}_${change.operation}`
    call[section] ??= []
    call[section].push(encodeChange(change))
    if (change.operation !== 'remove' && change.words !== null) {
      const words = `${change.table.kind}_words`
      call[words] ??= []
      call[words].push({ id: change.id, ...change.words })
    }
    for (const { id, type } of change.events) {
      call.events?.push({ id, type, subject_kind: change.table.kind, subject_id: change.id })
    }
    if (change.idempotency !== null) {
      const { apiKeyId, method, path, key, requestHash, status } = change.idempotency
      call.idempotency ??= []
      call.idempotency.push({
        subject_id: change.id,
        api_key_id: apiKeyId,
        method,
        path,
        key,
        request_hash: requestHash,
        status,
      })
    }
  }
  return JSON.stringify({ ...call, max_attempts: maxAttempts })
}

function encodeChange(change: Change): Record<string, unknown> {
  const row: Record<string, unknown> = { id: change.id }
  if (change.operation === 'create') row.created_at = change.decidedAt
  else {
    row.expected = change.expected
    // What the row adds to the digest now: the compare-and-set proves it, so the database need not hash again.
    row.old_term = digestTerm(change.id, change.expected)
  }
  if (change.operation === 'remove') return row
  row.head = change.head
  for (const [column, id] of Object.entries(change.check)) row[`check_${column}`] = id
  return Object.assign(row, change.columns)
}

/** The function's answer. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & Exclude<CommitOutcome, { outcome: 'done' }>)[]
  readonly done: readonly { readonly id: string; readonly body: string }[]
  /** Whether endpoints were subscribed to what happened. */
  readonly deliveries?: boolean
}

/** What became of each change, in their order. A change that the answer does not name lost its race. */
export function decodeOutcomes(changes: readonly Change[], answer: CommitAnswer): CommitOutcome[] {
  const outcomes = new Map<string, CommitOutcome>()
  for (const { id, body } of answer.done) outcomes.set(id, { outcome: 'done', body })
  for (const { id, ...refusal } of answer.refused) if (!outcomes.has(id)) outcomes.set(id, refusal)
  return changes.map(({ id }) => outcomes.get(id) ?? { outcome: 'conflict' })
}
