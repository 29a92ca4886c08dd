/** What a batch takes, and what it answers of each item. */
import type { ProblemError } from './error.ts'

/**
 * An item of an upsert: of a row that there is, the fields to change; of a new one, all that it needs. Messages, which
 * have no tags, never change.
 */
export type UpsertOf<Create> = 'externalId' | 'tags' extends keyof Create
  ? Partial<Create> & { externalId: string }
  : never

/** An item of an import: what a creation takes, and what the service sets otherwise. */
export type ImportOf<Create> = Partial<Create> & { createdAt?: string; [field: string]: unknown }

/** Why an item was refused: a problem without what belongs to the whole call. */
export interface ItemProblem {
  code: string
  title: string
  /** Says what to do next. */
  detail: string
  /** Its pointers are into the item. */
  errors?: ProblemError[]
  /** Of a `duplicate`, the row that is in the way. */
  existingId?: string
}

/** What became of one item; `status` is what a call for it alone would have answered. */
export type ItemOutcome =
  | { index: number; status: number; outcome: 'created' | 'updated' | 'unchanged'; id: string }
  | { index: number; status: number; outcome: 'refused'; problem: ItemProblem }

/** What became of every item, in their order, and how many of each there are. */
export interface BatchAnswer {
  data: ItemOutcome[]
  created: number
  updated: number
  unchanged: number
  refused: number
}
