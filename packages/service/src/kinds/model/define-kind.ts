import { bodyOrder, isRewritten } from '../../journal/body.ts'
import type { Column, Field, Fields } from '../../kernel/fields/field.ts'
import type { Action, Declaration, DocumentedEvents, Effects, Kind, Rules, State } from './kind.ts'

/**
 * Throws for contradictions. Making the documents also throws when rules refuse the example.
 */
export function defineKind<const F extends Fields>(declaration: Declaration<F>): Kind {
  const fields = Object.entries<Field>(declaration.fields)
  checkDeclaration(declaration)
  const stored = fields.flatMap(([name, field]) =>
    field.column === null ? [] : [{ name, field, column: field.column }],
  )
  const sequences = stored.filter(({ field }) => field.sequence)
  return {
    ...declaration,
    rules: declaration.rules as Rules<State>,
    actions: (declaration.actions ?? {}) as Readonly<Record<string, Action<State>>>,
    immutable: declaration.immutable ?? false,
    isPerson: declaration.isPerson ?? false,
    effects: (declaration.effects ?? null) as Effects<State> | null,
    documentedEvents: documentedEventsOf(declaration),
    migrations: declaration.migrations ?? [],
    upgrades: declaration.upgrades ?? [],
    fieldNames: fields.map(([name]) => name),
    imported: ['createdAt', ...fields.flatMap(([name, { imported }]) => (imported ? [name] : []))],
    representationOrder: [...fields]
      .sort(([, a], [, b]) => bodyOrder(a) - bodyOrder(b))
      .map(([name]) => name),
    table: {
      kind: declaration.name,
      name: declaration.plural,
      version: 1 + (declaration.upgrades ?? []).length,
      columns: stored.filter(({ field }) => !field.sequence).map(({ column }) => column),
      searchable: 'tags' in declaration.fields || fields.some(([, field]) => field.search),
      unique: stored.filter(({ field }) => field.unique).map(({ name, column }) => ({ field: name, column })),
      references: stored.flatMap(({ name, field, column }) =>
        field.reference === null ? [] : [{ field: name, column, ...field.reference }],
      ),
      sequence: sequences.map(({ name, column }) => ({ field: name, column: column.name }))[0] ?? null,
      periods: declaration.periods === undefined ? null : periodsOf(declaration.periods, stored),
      removedEvent: declaration.removedEvent,
      isErasable: declaration.isPerson ?? false,
      canAct: declaration.canAct ?? false,
    },
  }
}

function documentedEventsOf({ name, events, documentedEvents }: Declaration<Fields>): DocumentedEvents {
  const ifDeclared = (type: string) => ({ always: type in events ? [type] : [] })
  return {
    created: ifDeclared(`${name}.created`),
    otherFields: ifDeclared(`${name}.updated`),
    ...documentedEvents,
  }
}

function periodsOf(
  periods: NonNullable<Kind['periods']>,
  stored: readonly { readonly name: string; readonly column: Column }[],
): Kind['table']['periods'] {
  const columnOf = (field: string) => stored.find(({ name }) => name === field)?.column.name ?? field
  const { owner, starts, state } = periods
  return { ...periods, owner: columnOf(owner), starts: columnOf(starts), state: columnOf(state) }
}

function checkDeclaration({ name, fields, events, removedEvent }: Declaration<Fields>): void {
  const all = Object.entries<Field>(fields)
  for (const [field, { column, unique, filter }] of all) {
    if (column === null && (unique || filter))
      throw new Error(`${name}.${field}: a unique field and a filter need a column`)
  }
  const written = all.filter(([, field]) => isRewritten(field))
  if (written.length > 1)
    throw new Error(
      `${name}: at most one field, a sequence or a reference that detaches, stands before updatedAt`,
    )
  const foreign = Object.keys(events).find((type) => !type.startsWith(`${name}.`))
  if (foreign !== undefined) throw new Error(`${name}: the event ${foreign} must begin with ${name}.`)
  // Erasure skips events with such a name, as they have the removal record.
  if (removedEvent !== null && (removedEvent !== `${name}.deleted` || !(removedEvent in events)))
    throw new Error(`${name}: removedEvent must be ${name}.deleted and stand in events`)
}
