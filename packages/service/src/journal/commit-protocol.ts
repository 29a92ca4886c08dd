/**
 * The commit function's argument, as JSON, and its answer: what each key means. `commit-call.ts` writes the argument, `commit-function.ts` reads
 * it. For a section that is absent the function runs no statement. Ids are UUIDs, times are written as on the wire.
 */
import type { Refusal } from './change.ts'

/** Keys with the name of a kind. */
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
   * How long to wait for the clock, as `lock_timeout` is written, and how long for every other row, where that differs; default: 250 ms.
   */
  readonly lock_timeout?: string
  readonly row_timeout?: string
  /** How far `p_now` may be ahead of the database's clock, in milliseconds; default: no limit. */
  readonly max_clock_skew?: number
  /** Rows of all kinds that the organization may have, and bytes of their bodies; default: no limit. */
  readonly max_rows?: number
  readonly max_bytes?: number
  /** Where there is such a limit: every insert of the call, in the order in which they came. */
  inserts?: GrowthEntry[]

  /** The events of these changes. Those of a change that is refused are not created. */
  readonly events: EventEntry[]
  /** Responses to store, each with its change. A response that is stored already refuses the change. */
  idempotency?: IdempotencyEntry[]
  /** Which changes commit together or not at all, by the number of their unit. A unit of one change is not listed. */
  units?: { readonly unit: number; readonly id: string }[]

  /** Rows to insert. */
  [insert: `${string}_insert`]: InsertEntry[]
  /** Rows to change, if they are as expected. */
  [update: `${string}_update`]: UpdateEntry[]
  /** Rows to delete, if they are as expected, with the rows that depend on them. */
  [deleted: `${string}_delete`]: ExistingEntry[]
  /** The search documents of rows that are inserted or changed. */
  [searchDocuments: `${string}_search_documents`]: SearchDocumentEntry[]
  /** Unique values that changes set, by column. */
  [unique: `${string}_unique`]: CheckedEntry[]
  /** References that changes set, by column: rows that must exist. */
  [references: `${string}_references`]: CheckedEntry[]
  /** Rows that a unit was decided on, written by it or not. One that is not as expected refuses its unit. */
  [expected: `${string}_expected`]: { readonly id: string; readonly expected: string }[]
  /** The rows that refer to another by a column. One that came, went or changed since they were read refuses the unit. */
  [referring: `${string}_referring`]: ReferringEntry[]
}

interface EventEntry {
  readonly type: string
  readonly subject_kind: string
  readonly subject_id: string
  /** The `traceparent` of the trace that caused it; absent without one. */
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
  /** The version that the change was decided on. A row of another version is not changed. */
  readonly expected: string
  /**
   * What the row adds to the digest now. The compare-and-set proves it, so the database need not hash again.
   */
  readonly old_term: string
  /** What it adds to the content digest, proven likewise. */
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
  /** The version that the change was decided on, null for a new row: a change of another version is a conflict, and refused as that. */
  readonly expected: string | null
  readonly [column: string]: unknown
}

interface ReferringEntry {
  /** The first change of the unit, by which the unit is refused. */
  readonly id: string
  /** The row referred to. */
  readonly target: string
  /** How many referred to it. */
  readonly count: number
  /** The latest `updatedAt` among them, null when there were none. */
  readonly latest: string | null
}

/** The answer. A change that it does not name is a conflict: its row had changed. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & (Refusal | { readonly reason: 'replayed' }))[]
  /** The ids of the changes that were made. The caller has their bodies but for what follows, so that megabytes are not sent back. */
  readonly done: readonly string[]
  /** The `updatedAt` of all of them, or the time of their removal. */
  readonly stamp: string
  /** The numbers of new rows of numbered kinds, by id. */
  readonly numbers?: Readonly<Record<string, number>>
  /** Whether endpoints were subscribed to its events. */
  readonly deliveries?: boolean
  /** The endpoint queues that it made due, each with its `tier`, by the endpoint's id. */
  readonly woken?: Readonly<Record<string, number>>
  /** Whether there are so many deliveries that workers create them. */
  readonly large?: boolean
  /** How far the stamp was ahead of the database's clock, in milliseconds, where `max_clock_skew` was given. */
  readonly clock_skew?: number | null
}
