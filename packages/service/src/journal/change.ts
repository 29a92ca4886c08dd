/** What a writer asks of the journal, and what it is told. */
import type { StreamTable } from './stream-table.ts'

/** The answer kept for a POST that carries an Idempotency-Key. */
export interface IdempotencyRecord {
  readonly apiKeyId: string
  readonly method: string
  readonly path: string
  readonly key: string
  /** SHA-256 of the request body, as hex. */
  readonly requestHash: string
  /** The status to answer with when it is replayed. */
  readonly status: number
}

export interface ChangeEvent {
  readonly id: string
  readonly type: string
}

interface ChangeBase {
  readonly table: StreamTable
  readonly id: string
  /** The application's now when the change was decided; every time in the body is this or earlier. */
  readonly decidedAt: string
  readonly events: readonly ChangeEvent[]
  readonly idempotency: IdempotencyRecord | null
}

/** What a row is found by. */
export interface Words {
  readonly tags: readonly string[]
  /** Words in lower case, letters and digits only, separated by spaces. */
  readonly search: string
}

/** What creations and updates write. */
interface Written {
  /** The representation up to what the commit writes: ends in a comma. */
  readonly head: string
  /** The row's own columns, by name. */
  readonly columns: Readonly<Record<string, unknown>>
  /** What the row is found by from now on; null when that stays as it is. */
  readonly words: Words | null
  /** References that were set by this change and so must exist, by column. */
  readonly check: Readonly<Record<string, string>>
}

/** A row to be changed, in the version that the decision was made on. */
interface Existing {
  /** The version's `updatedAt`, as the wire writes it. */
  readonly expected: string
}

export type Change =
  | (ChangeBase & Written & { readonly operation: 'create' })
  | (ChangeBase & Written & Existing & { readonly operation: 'update' })
  | (ChangeBase & Existing & { readonly operation: 'remove' })

export type CommitOutcome =
  /** Committed; `body` is the representation as stored, or the removal record. */
  | { readonly outcome: 'done'; readonly body: string }
  /** The row has moved on, or is gone: read it again. */
  | { readonly outcome: 'conflict' }
  /** Another row has this unique value. */
  | { readonly outcome: 'duplicate'; readonly field: string; readonly existingId: string }
  /** The row referred to does not exist (any more). */
  | { readonly outcome: 'dangling'; readonly field: string }
  /** The idempotency key committed earlier: its record holds the answer. */
  | { readonly outcome: 'replayed' }

/**
 * What no two changes of one call may share: rows, unique values, idempotency keys. Two changes that do go into
 * different calls, where the second sees what the first committed.
 */
export function exclusiveKeys(change: Change): string[] {
  const keys = [change.id]
  if (change.operation !== 'remove') {
    for (const { field, column } of change.table.unique) {
      const value = change.columns[column.name]
      if (value !== null) keys.push(`${change.table.kind}.${field}=${value}`)
    }
  }
  const record = change.idempotency
  if (record !== null) keys.push(`${record.apiKeyId} ${record.method} ${record.path} ${record.key}`)
  return keys
}
