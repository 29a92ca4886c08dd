/** What a writer asks of the journal, and why the journal refuses it. */
import type { Outcome } from '../kernel/outcome.ts'
import type { Span } from '../kernel/telemetry.ts'
import type { StreamTable } from './stream-table.ts'

/** A response to store in the commit of its change, for a request that may be repeated. What it says of the request is not read here. */
export interface ResponseToStore {
  /** Names the request: no two changes of a call may have the same. */
  readonly requestKey: string
  /** Columns of its row, by name. */
  readonly columns: Readonly<Record<string, string | number>>
  /** The response, where it is not the representation of what changed. */
  readonly body?: string
}

interface ChangeBase {
  readonly table: StreamTable
  readonly id: string
  /** The application's now when the change was decided; every time in the body is this or earlier. */
  readonly decidedAt: string
  /** The types of the events that tell of it. The commit gives them ids, and the time of its stamp. */
  readonly events: readonly string[]
  readonly idempotency: ResponseToStore | null
}

/** What a row is found by. */
export interface SearchDocument {
  /** The row's own time: what is found comes newest first. */
  readonly createdAt: string
  /** Without repeats, separated by spaces. */
  readonly terms: string
}

/** What creations and updates write. */
interface Written {
  /** The head of the body: `body.ts`. */
  readonly head: string
  /** The row's own columns, by name. */
  readonly columns: Readonly<Record<string, unknown>>
  /** What the row is found by from now on; null when that stays as it is. */
  readonly searchDocument: SearchDocument | null
  /** References that this change sets and so must exist, by column. */
  readonly references: Readonly<Record<string, string>>
  /** Unique values that this change sets and so must be free, by column. */
  readonly unique: Readonly<Record<string, unknown>>
}

/** A row to be changed, in the version that the decision was made on. */
interface Existing {
  /** The version's `updatedAt`, as the wire writes it. */
  readonly expected: string
  /** Bytes of the version's body, as it is stored. */
  readonly bytes: number
  /** What that body adds to the content digest: `contentTerm` in `body.ts`. */
  readonly contentTerm: string
}

export type Change =
  | (ChangeBase & Written & { readonly operation: 'insert' })
  | (ChangeBase & Written & Existing & { readonly operation: 'update' })
  | (ChangeBase & Existing & { readonly operation: 'delete' })

/** A row that must still be as it was read, though nothing is written to it. */
export interface RowExpectation {
  readonly table: StreamTable
  readonly id: string
  readonly expected: string
}

/** The existing rows of a table that refer to another row, as they were read: none came, went or changed since. */
export interface ReferringExpectation {
  readonly table: StreamTable
  readonly column: string
  /** The row referred to. */
  readonly id: string
  readonly count: number
  /** The latest `updatedAt` among them, null when there are none. */
  readonly latest: string | null
}

/** Changes that commit together or not at all. */
export interface Unit {
  readonly changes: readonly Change[]
  /** What else the decision was made on; a unit that has moved on is refused as a conflict. */
  readonly rows?: readonly RowExpectation[]
  readonly referring?: readonly ReferringExpectation[]
  /** Its commit, where it is traced: what its events bring about is a part of it. */
  readonly span?: Span
  /** A unit that still waits when it aborts is not committed. */
  readonly signal?: AbortSignal | undefined
}

/** Why the journal did not make a change. */
export type Refusal =
  /** The row has changed since it was read, or is gone: read it again. */
  | { readonly reason: 'conflict' }
  /** Another row has this unique value. */
  | { readonly reason: 'duplicate'; readonly field: string; readonly existingId: string }
  /** The row referred to does not exist (any more). */
  | { readonly reason: 'dangling'; readonly field: string }
  /** The organization stores all that it may: `most` rows, or bytes of them. Of creations alone. */
  | { readonly reason: 'full'; readonly of: 'rows' | 'bytes'; readonly most: number }

/** The bodies of the changes as they are stored, or their removal records, in their order; or why not, by the ids of rows. */
export type UnitOutcome = Outcome<readonly string[], ReadonlyMap<string, Refusal>>

/**
 * What no two units of one call may share: rows, unique values, idempotency keys. Two units that do go into
 * different calls, where the second sees what the first committed.
 */
export function exclusiveKeys(unit: Unit): string[] {
  const keys = (unit.rows ?? []).map(({ id }) => id)
  for (const change of unit.changes) {
    keys.push(change.id, ...uniqueKeys(change))
    if (change.idempotency !== null) keys.push(change.idempotency.requestKey)
  }
  return keys
}

/** The unique values that a change sets, as keys that no two changes of a call may share. */
export function uniqueKeys(change: Change): string[] {
  if (change.operation === 'delete') return []
  return Object.entries(change.unique).map(([column, value]) => `${change.table.kind}.${column}=${value}`)
}

/**
 * What an organization may store (specification 14.3, decision 33). Creations beyond are refused; all else goes on, so
 * that there is a way back. The commit function counts rows, and bytes of their bodies, with each commit, in
 * `kind_counters`.
 */
export interface StorageLimits {
  /** Existing rows of all kinds together; null: no limit. */
  readonly rows: number | null
  /** Bytes of their bodies together; null: no limit. */
  readonly bytes: number | null
}

export const noLimits: StorageLimits = { rows: null, bytes: null }
