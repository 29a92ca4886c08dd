/**
 * What the journal and the commit function say to each other: the function's argument, as JSON, and its answer. The
 * one place that says what each key means; `commit-call.ts` writes the argument, `commit-function.ts` reads it.
 *
 * A section that is not there costs nothing: the function runs no statement for it. Ids are UUIDs, times are timestamps
 * of the wire.
 */
import type { Refusal } from './change.ts'

/** Keys that have a kind in their name, which in the database is that of a table's sections. */
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
  /** Attempts that each delivery has. */
  readonly max_attempts: number
  /**
   * How long to wait for the clock, as a limit for locks is written, and how long for every other row, where that is not as long; 250 ms
   * unless told.
   */
  readonly lock_timeout?: string
  readonly row_timeout?: string
  /** How far `p_now` may be ahead of the database's clock, in milliseconds; as far as it likes where it is not there. */
  readonly max_clock_skew?: number
  /** Rows of all kinds that the organization may have, and bytes of their bodies; as many as it likes where it is not there. */
  readonly max_rows?: number
  readonly max_bytes?: number
  /** Where there is such a limit: every insert of the call, those that came first first. */
  inserts?: GrowthEntry[]

  /** What events tell of these changes: each of one that is made, or it is none. */
  readonly events: EventEntry[]
  /** Responses to store, each with the change that it answers for. One that is stored already refuses the change. */
  idempotency?: IdempotencyEntry[]
  /** Who stands or falls together: each with the number of its unit. Changes of a unit of one are not named. */
  units?: { readonly unit: number; readonly id: string }[]

  /** Rows to be made. */
  [insert: `${string}_insert`]: InsertEntry[]
  /** Rows to be changed, if they are as expected. */
  [update: `${string}_update`]: UpdateEntry[]
  /** Rows to be deleted, if they are as expected, with what depends on them. */
  [deleted: `${string}_delete`]: ExistingEntry[]
  /** What rows made or changed here are found by from now on. */
  [searchDocuments: `${string}_search_documents`]: SearchDocumentEntry[]
  /** Values that changes set and that no other row may have, by column. */
  [unique: `${string}_unique`]: CheckedEntry[]
  /** Ids that changes set and that must be of rows that exist, by column. */
  [references: `${string}_references`]: CheckedEntry[]
  /** Rows that a unit was decided on, written by it or not: not as expected, its unit is refused. */
  [expected: `${string}_expected`]: { readonly id: string; readonly expected: string }[]
  /** The rows that refer by a column to another: one that came, went or changed since refuses the unit. */
  [referring: `${string}_referring`]: ReferringEntry[]
}

interface EventEntry {
  readonly type: string
  readonly subject_kind: string
  readonly subject_id: string
  /** The trace that it was made in, as a `traceparent`; where it is traced. */
  readonly trace_context?: string
}

interface IdempotencyEntry {
  readonly subject_id: string
  /** What is stored, where it is not the body of what changed. */
  readonly response: string | undefined
  /** Columns of the stored response, by name. */
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
  /** The head of its body (`body.ts`). */
  readonly head: string
  /** The row's own columns, by name. */
  readonly [column: string]: unknown
}

interface ExistingEntry {
  readonly id: string
  /** The version that the change was decided on: of another, the row is left alone and the change not made. */
  readonly expected: string
  /**
   * What the row adds to the digest now: the compare-and-set proves it, so the database need not hash again.
   */
  readonly old_term: string
  /** And to the content digest, proven likewise. */
  readonly old_content: string
  /** The bytes that its body has now, proven likewise. */
  readonly old_bytes: number
}

interface UpdateEntry extends ExistingEntry {
  readonly head: string
  readonly [column: string]: unknown
}

interface SearchDocumentEntry {
  readonly id: string
  /** The row's. */
  readonly created_at: string
  /** Without repeats, separated by spaces. */
  readonly terms: string
}

interface CheckedEntry {
  readonly id: string
  /** The version that the change was decided on, null for a new row: an outdated change ends as the conflict that it is. */
  readonly expected: string | null
  readonly [column: string]: unknown
}

interface ReferringEntry {
  /** Under whose name the unit is refused: its first change, which is there for certain. */
  readonly id: string
  /** The row referred to. */
  readonly target: string
  /** How many referred to it. */
  readonly count: number
  /** The latest `updatedAt` among them, null when there were none. */
  readonly latest: string | null
}

/** The answer. A change that it does not name lost its race: its row had moved on. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & (Refusal | { readonly reason: 'replayed' }))[]
  /** The ids of what was made. The caller knows its bodies but for what follows: they can be many megabytes. */
  readonly done: readonly string[]
  /** The `updatedAt` of all of it, or the time of its removal. */
  readonly stamp: string
  /** The numbers that new rows of numbered kinds were given, by id. */
  readonly numbers?: Readonly<Record<string, number>>
  /** Whether endpoints were subscribed to what happened. */
  readonly deliveries?: boolean
  /** Of their queues, those that were woken by it, each with the `tier` that it waits in, by the endpoint's id. */
  readonly woken?: Readonly<Record<string, number>>
  /** Whether they are so many deliveries that these are still to be made, by workers. */
  readonly large?: boolean
  /** How far the stamp was ahead of the database's clock, in milliseconds, where `max_clock_skew` was given. */
  readonly clock_skew?: number | null
}
