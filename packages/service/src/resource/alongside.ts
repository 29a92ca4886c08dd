/**
 * What a creation changes beside the new object: a message moves its conversation. The kind says so with a
 * function of its own folder, which reads what it needs and decides; all of it commits together or not at all.
 */
import type { Problem } from '../kernel/errors.ts'
import type { Result } from '../kernel/result.ts'
import type { Kind, State } from './kind.ts'

/** An existing object, as it was read. */
export interface Read<S = State> {
  readonly id: string
  readonly state: S
}

/** Reads of one organization. What a creation was decided on must still hold when it commits. */
export interface DeskReader {
  /** Objects by id; those that do not exist are missing. */
  byId<S = State>(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Read<S>>>
  /** The objects that refer to one of `ids` through a field of theirs, oldest first. */
  referring<S = State>(kind: Kind, field: string, ids: readonly string[]): Promise<readonly Read<S>[]>
}

/** An object that a creation changes. */
export interface Moved {
  readonly kind: Kind
  readonly id: string
  readonly after: State
}

export interface Plan<S> {
  /** The new objects completed, or refused; in the order of the drafts. */
  readonly drafts: readonly Result<S, Problem>[]
  readonly moved: readonly Moved[]
}

export interface Alongside<S> {
  /** Event types of other kinds that it can cause, for the documents. */
  readonly events: readonly string[]
  /** The object that a creation moves: creations that share one wait for each other rather than losing races. */
  queuedBehind(draft: S): string
  plan(drafts: readonly S[], desk: DeskReader): Promise<Plan<S>>
}
