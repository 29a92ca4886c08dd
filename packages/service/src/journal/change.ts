/** What a writer asks of the journal, and how the journal refuses it. */
import type { Outcome } from '../kernel/outcome.ts'
import type { Span } from '../kernel/telemetry.ts'
import type { StreamTable } from './stream-table.ts'

/** A response to store in the commit of its change, for a request that may be repeated. */
export interface ResponseToStore {
  /** Identifies the request: no two changes of a call have the same. */
  readonly requestKey: string
  /** Columns of its row in `idempotency_keys`, by name. */
  readonly columns: Readonly<Record<string, string | number>>
  /** Absent: the body of the change. */
  readonly body?: string
}

interface ChangeBase {
  readonly table: StreamTable
  readonly id: string
  /** The process's time of the decision; no time in the body is later. */
  readonly decidedAt: string
  /** The types of its events. The commit gives them ids, and its stamp as their time. */
  readonly events: readonly string[]
  readonly idempotency: ResponseToStore | null
}

export interface SearchDocument {
  /** The row's `createdAt`: search results come newest first. */
  readonly createdAt: string
  /** Distinct terms, separated by spaces. */
  readonly terms: string
}

/** A time that an object takes of its owner, as texts on the wire. */
export interface Period {
  readonly owner: string
  readonly starts: string
  readonly ends: string
}

interface Written {
  /** The head of the body (`body.ts`). */
  readonly head: string
  readonly columns: Readonly<Record<string, unknown>>
  /** Null: unchanged. */
  readonly searchDocument: SearchDocument | null
  /** References that this change sets, by column. They must exist. */
  readonly references: Readonly<Record<string, string>>
  /**
   * Unique values that this change sets, by column, also a number that the commit does not assign. They must be free.
   */
  readonly unique: Readonly<Record<string, unknown>>
  /** The time that this change takes; absent: none, or the one that its object had. */
  readonly period?: Period
}

/** A row to be changed, in the version that the change was decided on. */
interface Existing {
  readonly expected: string
  readonly bytes: number
  /** That body's `contentTerm` (`body.ts`). */
  readonly contentTerm: string
}

export type Change =
  | (ChangeBase & Written & { readonly operation: 'insert'; readonly createdAt: string })
  | (ChangeBase &
      Written &
      Existing & {
        readonly operation: 'update'
        /** The fields whose values change, for its events. */
        readonly changed?: readonly string[]
      })
  /** `erases`: with every row that refers to it, whatever an ordinary delete would leave. The body is a receipt. */
  | (ChangeBase & Existing & { readonly operation: 'delete'; readonly erases: boolean })

/** A row that must be unchanged since it was read, though nothing is written to it. */
export interface RowExpectation {
  readonly table: StreamTable
  readonly id: string
  readonly expected: string
}

/** The rows that refer to another row, or those of them that may change with it: the same as when they were read. */
export interface ReferringExpectation {
  readonly table: StreamTable
  readonly column: string
  readonly id: string
  readonly count: number
  /** The latest `updatedAt` among them; null when there are none. */
  readonly latest: string | null
}

/** Who caused a change, by which request; its events keep it. */
export interface Cause {
  readonly key: string
  /** The console session, begun by a link of the key. */
  readonly session?: string
  /** The id of the request. */
  readonly request: string
  /** The id of the teammate for whom the key acts. */
  readonly actingFor?: string
}

/** Of the request that asks for a change. */
export interface RequestContext {
  /** Absent: the service itself changes it. */
  readonly cause?: Cause
  /** A unit that is still queued when it aborts is not committed. */
  readonly signal?: AbortSignal | undefined
  /** It is decided as any other, and rolled back. */
  readonly dryRun?: boolean
}

export interface Unit extends RequestContext {
  readonly changes: readonly Change[]
  /** What else the decision was made on. If one of these rows has changed, the unit is refused as a conflict. */
  readonly rows?: readonly RowExpectation[]
  readonly referring?: readonly ReferringExpectation[]
  /** The span of its commit, where the request is traced. Its events and deliveries belong to the same trace. */
  readonly span?: Span
}

export type Refusal =
  /** The row has changed since it was read, or is gone. */
  | { readonly reason: 'conflict' }
  | { readonly reason: 'duplicate'; readonly field: string; readonly existingId: string }
  | { readonly reason: 'dangling'; readonly field: string }
  /** The owner of its period has `existingId` at that time, in an organization that prevents this. */
  | { readonly reason: 'overlap'; readonly existingId: string }
  /** A creation would exceed the organization's limit, `most` rows or bytes. */
  | { readonly reason: 'full'; readonly of: 'rows' | 'bytes'; readonly most: number }

/** The stored bodies of the changes (removal records of deletes), in their order; or the refusals, by row id. */
export type UnitOutcome = Outcome<readonly string[], ReadonlyMap<string, Refusal>>

/** What an organization may store. Beyond it only creations are refused, so that it can be changed and made smaller. */
export interface StorageLimits {
  readonly rows: number | null
  readonly bytes: number | null
}

export const noLimits: StorageLimits = { rows: null, bytes: null }
