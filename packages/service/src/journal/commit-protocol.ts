/**
 * The commit function's argument and answer, as JSON. `commit-call.ts` writes the argument, `commit-function.ts`
 * reads it. The function runs no statement for an absent section. Ids are UUIDs, times are as on the wire.
 */
import type { Refusal } from './change.ts'

/** Keys that contain the name of a kind. */
export const sectionOf = {
  insert: (kind: string) => `${kind}_insert` as const,
  update: (kind: string) => `${kind}_update` as const,
  delete: (kind: string) => `${kind}_delete` as const,
  searchDocuments: (kind: string) => `${kind}_search_documents` as const,
  unique: (kind: string) => `${kind}_unique` as const,
  references: (kind: string) => `${kind}_references` as const,
  expected: (kind: string) => `${kind}_expected` as const,
  referring: (kind: string, column: string) => `${kind}_${column}_referring` as const,
}

/** The argument `p_changes`: the changes of one organization, in no order. */
export interface CommitArgument {
  readonly max_attempts: number
  /** Lock timeouts as PostgreSQL writes them, for the clock row and for all other rows; default: 250 ms for both. */
  readonly lock_timeout?: string
  readonly row_timeout?: string
  /** How far `p_now` may be ahead of the database's clock, in milliseconds; default: no limit. */
  readonly max_clock_skew?: number
  /** Limits of the organization's rows of all kinds, and of bytes of their bodies; default: none. */
  readonly max_rows?: number
  readonly max_bytes?: number
  /** Every insert of the call in its order, where a storage limit is set. */
  inserts?: GrowthEntry[]

  /** The events of these changes. A refused change has none. */
  readonly events: EventEntry[]
  /** Responses to store, each with its change. A change whose response is stored already is refused. */
  idempotency?: IdempotencyEntry[]
  /** Changes that commit together or not at all, by the number of their unit. A unit of one change is not listed. */
  units?: { readonly unit: number; readonly id: string }[]

  [insert: `${string}_insert`]: InsertEntry[]
  [update: `${string}_update`]: UpdateEntry[]
  /** Rows to delete, with the rows that depend on them. */
  [deleted: `${string}_delete`]: ExistingEntry[]
  [searchDocuments: `${string}_search_documents`]: SearchDocumentEntry[]
  [unique: `${string}_unique`]: CheckedEntry[]
  /** References that changes set, by column. */
  [references: `${string}_references`]: CheckedEntry[]
  /** Rows that a unit was decided on, whether it writes them or not. One that has changed refuses its unit. */
  [expected: `${string}_expected`]: { readonly id: string; readonly expected: string }[]
  /** The rows that refer to another by a column. If one was added, removed or changed since, the unit is refused. */
  [referring: `${string}_referring`]: ReferringEntry[]
}

interface EventEntry {
  readonly type: string
  readonly subject_kind: string
  readonly subject_id: string
  /** The `traceparent` of its cause; absent without a trace. */
  readonly trace_context?: string
}

interface IdempotencyEntry {
  readonly subject_id: string
  /** Absent: the body of the changed row. */
  readonly response: string | undefined
  readonly [column: string]: unknown
}

interface GrowthEntry {
  readonly id: string
  /** The most that its body can have. */
  readonly bytes: number
}

interface InsertEntry {
  readonly id: string
  readonly created_at: string
  readonly head: string
  readonly [column: string]: unknown
}

interface ExistingEntry {
  readonly id: string
  /** The version that the change was decided on. A row of another version is not changed. */
  readonly expected: string
  /**
   * The row's current digest terms and bytes. The check of `expected` proves them, so the database need not hash again.
   */
  readonly old_term: string
  readonly old_content: string
  readonly old_bytes: number
}

interface UpdateEntry extends ExistingEntry {
  readonly head: string
  readonly [column: string]: unknown
}

interface SearchDocumentEntry {
  readonly id: string
  readonly created_at: string
  /** Distinct, separated by spaces. */
  readonly terms: string
}

interface CheckedEntry {
  readonly id: string
  /**
   * The version that the change was decided on; null: a new row. Another version is a conflict, whatever else is wrong.
   */
  readonly expected: string | null
  readonly [column: string]: unknown
}

interface ReferringEntry {
  /** The first change of the unit, by which the unit is refused. */
  readonly id: string
  readonly target: string
  readonly count: number
  /** The latest `updatedAt` among them; null when there were none. */
  readonly latest: string | null
}

/** The answer. A change in neither list is a conflict: its row had changed. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & (Refusal | { readonly reason: 'replayed' }))[]
  /**
   * The ids of committed changes. The caller has their bodies apart from stamp and number, so they are not sent back.
   */
  readonly done: readonly string[]
  /** The `updatedAt` of all of them, or their `removedAt`. */
  readonly stamp: string
  readonly numbers?: Readonly<Record<string, number>>
  /** Whether endpoints were subscribed to its events. */
  readonly deliveries?: boolean
  /** The `tier` of each endpoint queue that it made due, by the endpoint's id. */
  readonly woken?: Readonly<Record<string, number>>
  /** Workers create the deliveries, as there are too many for the commit. */
  readonly large?: boolean
  /** How far the stamp was ahead of the database's clock, in milliseconds, where `max_clock_skew` was given. */
  readonly clock_skew?: number | null
}

export const maxClockSkew = 60_000

/** PostgreSQL's error code of a commit with a later time. Nothing was changed. */
export const clockAheadCode = 'DW001'
