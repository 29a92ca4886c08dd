/** A kind of object as a value. `defineKind` derives from it what the journal, the routes and the documents need. */
import type { Migration } from '../../db/migration.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { type ErrorCode, type Problem, problem } from '../../kernel/errors.ts'
import type { Fields, State, StateOf } from '../../kernel/fields/field.ts'
import { fail, type Result } from '../../kernel/outcome.ts'
import type { Carriers } from '../../openapi/api-module.ts'

export type { State } from '../../kernel/fields/field.ts'

export interface RuleContext {
  readonly now: string
}

export interface Rules<S> {
  /**
   * Completes or refuses a new object; `draft` is what was sent, with initial values for the rest. Only an import gives
   * others to fields that the service sets; then `now` is its createdAt.
   */
  create?(draft: S, context: RuleContext): Result<S, Problem>
  /** Completes or refuses a change; `draft` is `before` with the patch applied, `sent` the fields in it. */
  update?(before: S, draft: S, sent: ReadonlySet<string>, context: RuleContext): Result<S, Problem>
  /** Event types of a creation (`before` null) or of a change. Not called for a change that changes no value. */
  events(before: S | null, after: S): readonly string[]
}

/** A state transition that clients request by name: `POST /v1/{kind}/{id}/{action}`. */
export interface Action<S> {
  readonly description: string
  /** Of its body, parsed as at a creation. */
  readonly fields: Fields
  /** A body for the documents. Default: none. */
  readonly example?: State
  /** For the documents: the events of every transition that changes something. */
  readonly events: readonly string[]
  /** The object after the transition, or its refusal. Its events are those of the change. */
  apply(before: S, input: State, context: RuleContext): Result<S, Problem>
}

/** Event types that report every change, or some. */
export type Reported = Partial<Pick<Carriers, 'always' | 'sometimes'>>

/** For the documents, and held against the rules by a test: which events report what. */
export interface DocumentedEvents {
  /** Default: `NAME.created`, if the kind has it. */
  readonly created: Reported
  /** Changes of a field, also by actions. */
  readonly fields?: Readonly<Record<string, Reported>>
  /** Changes of the other fields. Default: `NAME.updated`, if the kind has it. */
  readonly otherFields: Reported
  /** By event type: what the object shows after it that the example does not. */
  readonly examples?: Readonly<Record<string, State>>
}

/** An action whose `apply` knows the types of its own fields. */
export function action<S, const F extends Fields>(declaration: {
  readonly description: string
  readonly fields: F
  readonly example?: State
  readonly events: readonly string[]
  apply(before: S, input: StateOf<F>, context: RuleContext): Result<S, Problem>
}): Action<S> {
  return declaration as unknown as Action<S>
}

/** Adds, renames or drops a field of a body. Pure and total. Sets no new reference and leaves the sequence alone. */
type Upgrade = (shown: State) => State

/** Another kind by whose words objects are found, and the column that holds the reference between them. */
export interface FoundBy {
  readonly plural: string
  /** For the documents: `its customer`. */
  readonly phrase: string
  readonly column: string
  /** The other kind's table has the column; default: the kind's own. */
  readonly refersHere?: boolean
}

export interface Declaration<F extends Fields> {
  /** Singular, as in `object` and in event types: `ticket`. */
  readonly name: string
  /** Plural: the path `/v1/tickets`, the scopes `tickets:read`, the table. */
  readonly plural: string
  readonly description: string
  readonly fields: F
  readonly rules: Rules<StateOf<F>>
  readonly actions?: Readonly<Record<string, Action<StateOf<F>>>>
  /** Clients never change objects of it: there is no PATCH. */
  readonly immutable?: boolean
  /** Its objects are people: each is erased, and exported, with everything that refers to it. */
  readonly isPerson?: boolean
  /** Its objects, which have a `name`, can be actors of changes. At most one kind. */
  readonly canAct?: boolean
  /** What a creation or removal changes in other objects, in the same commit. */
  readonly effects?: Effects<StateOf<F>>
  /** An object takes the time from `starts` to `ends` of its owner, while `state` is one of `taking`. */
  readonly periods?: {
    readonly owner: string
    readonly starts: string
    readonly ends: string
    readonly state: string
    readonly taking: readonly string[]
  }
  /**
   * Filters of its list that depend on the time: `?overdue=true`. `holds` is SQL of a row `t` at `now`, which is text.
   */
  readonly filters?: Readonly<
    Record<string, { readonly description: string; readonly holds: (t: string, now: string) => string }>
  >
  /** `q` also finds its objects by the words of these, with a key that may read them. */
  readonly foundBy?: readonly FoundBy[]
  /** What its rules require in addition to each field's own rules, as a sentence for the documents. */
  readonly demands?: string
  /** Error codes of its own rules, in addition to those of every kind. */
  readonly refusals?: readonly ErrorCode[]
  /** Every event type of its changes, with when it is sent. */
  readonly events: Readonly<Record<string, string>>
  readonly documentedEvents?: Partial<DocumentedEvents>
  /** The event of a removal; null when objects of this kind cannot be deleted. */
  readonly removedEvent: string | null
  /** Creates its table, unless the baseline has it (desk/tables.ts), and changes it later. */
  readonly migrations?: readonly Migration[]
  /** Each step adds one to the kind's version, which began with 1. A released step is never changed. */
  readonly upgrades?: readonly Upgrade[]
  /** A creation body for the documents. */
  readonly example: Readonly<Record<string, unknown>>
}

export interface Kind
  extends Omit<
    Declaration<Fields>,
    | 'rules'
    | 'actions'
    | 'immutable'
    | 'isPerson'
    | 'canAct'
    | 'effects'
    | 'documentedEvents'
    | 'migrations'
    | 'upgrades'
  > {
  readonly rules: Rules<State>
  readonly actions: Readonly<Record<string, Action<State>>>
  readonly immutable: boolean
  readonly isPerson: boolean
  readonly effects: Effects<State> | null
  readonly documentedEvents: DocumentedEvents
  readonly migrations: readonly Migration[]
  readonly upgrades: readonly Upgrade[]
  readonly table: StreamTable
  readonly fieldNames: readonly string[]
  /** Fields that only the service and an import set. */
  readonly imported: readonly string[]
  /** Those that a commit may rewrite are last. */
  readonly representationOrder: readonly string[]
}

export interface Read<S = State> {
  readonly id: string
  readonly state: S
}

/** Reads objects of one organization. What a creation was decided on must still hold when it commits. */
export interface DeskReader {
  /** Objects that do not exist are missing. */
  byId<S = State>(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Read<S>>>
  /**
   * The objects that changes of `ids` may change, as a reference of theirs declares: the newest hundred for each id.
   */
  changeable<S = State>(kind: Kind, field: string, ids: readonly string[]): Promise<readonly Read<S>[]>
}

export interface Moved {
  readonly kind: Kind
  readonly id: string
  readonly after: State
}

interface Plan<S> {
  /** Completed or refused, in the order of the drafts. */
  readonly drafts: readonly Result<S, Problem>[]
  readonly moved: readonly Moved[]
}

/** What a creation or removal changes in other objects, in one commit: a message moves its conversation. */
export interface Effects<S> {
  /** Event types of other kinds that it can cause, for the documents. */
  readonly events: readonly string[]
  /** Creations with the same key run one after another, instead of conflicting: the object that they move. */
  queuedBehind(draft: S): string
  /** An import adds what is past, so it opens and moves nothing. */
  plan(drafts: readonly S[], desk: DeskReader, isImport: boolean): Promise<Plan<S>>
  /** What the removal of an object changes in others. It sets no reference and no unique value. */
  removed?(gone: S, desk: DeskReader): Promise<readonly Moved[]>
}

/** 409 `invalid_transition`: names the object's state and what that allows. */
export function refuseMove(
  object: { readonly kind: string; readonly state: string },
  move: string,
  allowed: readonly string[],
): Result<never, Problem> {
  const possible = allowed.length === 0 ? 'none' : allowed.join(', ')
  const detail = `The ${object.kind} is ${object.state}: ${move} is not possible. Possible now: ${possible}.`
  return fail(problem('invalid_transition', detail))
}
