/**
 * A kind of object as a value: its name, its fields, and the rules that are its own. `defineKind` turns the
 * declaration into what the machinery, the journal and the documents read. Nothing here knows any kind by name.
 */

import type { Migration } from '../db/migration.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import type { ErrorCode, Problem } from '../kernel/errors.ts'
import type { Result } from '../kernel/result.ts'
import type { Field, Fields, StateOf } from './fields.ts'

/** An object's own fields, whatever its kind. */
export type State = Readonly<Record<string, unknown>>

/** What a rule may look at beside the object: nothing but the time. */
export interface RuleContext {
  /** Now, as a timestamp of the wire. */
  readonly now: string
}

/** The behaviour of a kind: pure functions of its states. */
export interface Rules<S> {
  /** Completes or refuses a new object; `draft` is what was sent, with initial values for the rest. */
  create?(draft: S, context: RuleContext): Result<S, Problem>
  /** Completes or refuses a change; `draft` is `before` with the patch laid over, `sent` the fields it named. */
  update?(before: S, draft: S, sent: ReadonlySet<string>, context: RuleContext): Result<S, Problem>
  /** Event types of a creation (`before` null) or of a change. A change that changes no value is never asked. */
  events(before: S | null, after: S): readonly string[]
}

export interface Declaration<F extends Fields> {
  /** Singular, as in `object` and in event types: `ticket`. */
  readonly name: string
  /** Plural: the path `/v1/tickets`, the scopes `tickets:read`, the table. */
  readonly plural: string
  readonly description: string
  readonly fields: F
  readonly rules: Rules<StateOf<F>>
  /** Error codes that its own rules refuse with, beside those of every kind. */
  readonly refusals?: readonly ErrorCode[]
  /** Every event type its changes can emit, with what it is sent for. */
  readonly events: Readonly<Record<string, string>>
  /** The event of a removal; null when objects of this kind cannot be deleted. */
  readonly removedEvent: string | null
  readonly migrations: readonly Migration[]
  /** A creation body for the documents. */
  readonly example: Readonly<Record<string, unknown>>
}

export interface Kind extends Omit<Declaration<Fields>, 'rules'> {
  readonly rules: Rules<State>
  readonly table: StreamTable
  readonly fieldNames: readonly string[]
  /** Fields in the order of the representation: what a commit may rewrite stands last. */
  readonly representationOrder: readonly string[]
}

/** Checks a declaration and derives from it what the journal needs to know. */
export function defineKind<const F extends Fields>(declaration: Declaration<F>): Kind {
  const fields = Object.entries<Field>(declaration.fields)
  checkDeclaration(declaration)
  const stored = fields.flatMap(([name, field]) =>
    field.column === null ? [] : [{ name, field, column: field.column }],
  )
  const sequences = stored.filter(({ field }) => field.sequence)
  if (sequences.length > 1) throw new Error(`${declaration.name}: at most one sequence field`)
  const last = (field: Field) => (field.sequence ? 2 : field.reference?.onRemove === 'remove' ? 1 : 0)
  return {
    ...declaration,
    rules: declaration.rules as Rules<State>,
    fieldNames: fields.map(([name]) => name),
    representationOrder: [...fields].sort(([, a], [, b]) => last(a) - last(b)).map(([name]) => name),
    table: {
      kind: declaration.name,
      name: declaration.plural,
      columns: stored.filter(({ field }) => !field.sequence).map(({ column }) => column),
      words: 'tags' in declaration.fields || fields.some(([, field]) => field.search),
      unique: stored.filter(({ field }) => field.unique).map(({ name, column }) => ({ field: name, column })),
      references: stored.flatMap(({ name, field, column }) =>
        field.reference === null ? [] : [{ field: name, column, ...field.reference }],
      ),
      sequence: sequences.map(({ name, column }) => ({ field: name, column: column.name }))[0] ?? null,
      removedEvent: declaration.removedEvent,
    },
  }
}

/** Throws for a declaration that would only show later that it does not fit together. */
function checkDeclaration({ name, fields, events, removedEvent }: Declaration<Fields>): void {
  for (const [field, { column, unique, filter }] of Object.entries(fields)) {
    if (column === null && (unique || filter))
      throw new Error(`${name}.${field}: a unique field and a filter need a column`)
  }
  const foreign = Object.keys(events).find((type) => !type.startsWith(`${name}.`))
  if (foreign !== undefined) throw new Error(`${name}: the event ${foreign} must begin with ${name}.`)
  // Erasing what events hold of a removed object spares those that end so: they hold the removal record.
  if (removedEvent !== null && (removedEvent !== `${name}.deleted` || !(removedEvent in events)))
    throw new Error(`${name}: removedEvent must be ${name}.deleted and stand in events`)
}
