/**
 * The commit function, the one writer of the stream: `commit.sql` is what all kinds share, `kind.sql` the part of one,
 * which is made for each from its declaration. Its argument and answer: `commit-protocol.ts`.
 */
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject, schemaObjects } from '../db/sql-file.ts'
import { clearedPointer } from './body.ts'
import { changeableRows } from './rows.ts'
import type { StreamReference, StreamTable } from './stream-table.ts'

const file = (name: string) => readSql(import.meta.url, name)

export const commitChangeType: SchemaFunction = schemaObject(file('./commit-change.sql'))
export const commitLimitsType: SchemaFunction = schemaObject(file('./commit-limits.sql'))
const writtenRowType = schemaObject(file('./written-row.sql'))
const types = [commitChangeType, commitLimitsType, writtenRowType]

const unitsOf = schemaObject(file('./units-of.sql'), types)
const beyondLimits = schemaObject(file('./beyond-limits.sql'), types)
const changesOf = schemaObject(file('./changes-of.sql'), types)
const countersAfter = schemaObject(file('./counters-after.sql'), types)
const erasureReceipt = schemaObject(file('./erasure-receipt.sql'), [...types, countersAfter])

/** Stores responses under the clock row; what they add to the counters is the caller's to count. */
export const storeResponsesFunction: SchemaFunction = schemaObject(file('./store-responses.sql'), types)
/** Counts bytes of stored responses outside of a commit. */
export const countResponsesFunction: SchemaFunction = schemaObject(file('./count-responses.sql'), [
  ...types,
  countersAfter,
])

/**
 * Types before the functions that have them as arguments, and functions that the planner puts in place before others.
 */
const shared = [
  ...types,
  changesOf,
  countersAfter,
  unitsOf,
  beyondLimits,
  erasureReceipt,
  storeResponsesFunction,
  countResponsesFunction,
]

/**
 * Pure: the same arguments give the same texts and names. `commit` is among `functions`, with all that it calls but
 * what `delivery` provides (`delivery/queue/functions.ts`).
 */
export function commitFunctions(
  tables: readonly StreamTable[],
  delivery: readonly SchemaFunction[],
): { readonly commit: SchemaFunction; readonly functions: readonly SchemaFunction[] } {
  const ofKinds = tables.flatMap((table) => kindFunctions(table, tables))
  const text = fillTemplate(
    file('./commit.sql'),
    {},
    {
      kind: tables.map(({ kind }) => ({ kind })),
      person: tables.filter(({ isErasable }) => isErasable).map(({ kind }) => reachedFrom(kind, tables)),
    },
  )
  const commit = schemaObject(text, [...shared, ...ofKinds, ...delivery])
  return { commit, functions: [...shared, ...ofKinds, commit] }
}

function reachedFrom(kind: string, tables: readonly StreamTable[]) {
  const refer = (to: string) => tables.filter(({ references }) => references.some((one) => one.kind === to))
  // Those to which others refer come last.
  const referring = refer(kind).sort((a, b) => refer(a.kind).length - refer(b.kind).length)
  return { kind, reached: [kind, ...referring.map((table) => table.kind)].join(',') }
}

/** The functions of one kind; `tables` are those of all kinds. */
function kindFunctions(table: StreamTable, tables: readonly StreamTable[]): readonly SchemaFunction[] {
  const { kind, name, version, columns, unique, references, sequence, periods, removedEvent } = table
  const number = sequence && { name: sequence.column, type: 'bigint' }
  const names = columns.map((column) => column.name)
  const list = (values: readonly string[]) => values.join(', ')
  const typed = [...columns, ...(number === null ? [] : [number])]
  const ownNames = {
    kind,
    table: name,
    version: String(version),
    columns: list(names),
    values: list(columns.map((column) => ownValue('c', column))),
    nulls: list(names.map(() => 'null')),
    new_columns: list(typed.map((column) => column.name)),
    new_values: list([
      ...columns.map((column) => ownValue('f', column)),
      ...(number === null ? [] : ['f.number']),
    ]),
    number: sequence === null ? "''" : `'"${sequence.field}":' || (v_numbers->>c.id::text) || ','`,
    removed_event: removedEvent ?? '',
  }
  const lists = {
    unique: [
      ...unique.map(({ field, column }) => ({ field, column: column.name, type: column.type })),
      ...(sequence === null ? [] : [{ field: sequence.field, column: sequence.column, type: 'bigint' }]),
    ],
    reference: references.map((reference) => referenceNames(table, reference, tables)),
    sequence: sequence === null ? [] : [{ column: sequence.column }],
    search: table.searchable ? [{}] : [],
    period: periods === null ? [] : [{}],
  }
  const timesTaken =
    periods === null
      ? []
      : [
          schemaObject(
            fillTemplate(file('./times-taken.sql'), {
              ...ownNames,
              ...periods,
              taking: periods.taking.map((word) => `'${word}'`).join(', '),
            }),
            shared,
          ),
        ]
  return [
    ...timesTaken,
    schemaObject(fillTemplate(file('./unlink.sql'), ownNames, lists), shared),
    ...schemaObjects(fillTemplate(file('./kind.sql'), ownNames, lists), [...shared, ...timesTaken]),
  ]
}

/** SQL: the value of a column of the kind in the change `row`. */
function ownValue(row: string, { name, type }: { readonly name: string; readonly type: string }): string {
  return `(${row}.own->>'${name}')::${type}`
}

function referenceNames(table: StreamTable, reference: StreamReference, tables: readonly StreamTable[]) {
  const { field, column, kind, within, onRemove, condition } = reference
  // A kind that this installation lacks has no objects: no row of any table will do.
  const target = tables.find((other) => other.kind === kind)
  const member = within?.slice(1)
  const detached =
    onRemove !== 'clear'
      ? 'body_without_last(r.body, v_tail)'
      : member === undefined
        ? `body_without_field(r.body, v_tail, '${field}', r.removed_id)`
        : `body_without_member(r.body, v_tail, '${member}', r.removed_id)`
  return {
    field,
    column: column.name,
    target: target?.name ?? table.name,
    target_kind: kind,
    condition: target === undefined ? 'false' : condition === undefined ? 'true' : `f.${condition.column}`,
    removes: String(onRemove === 'remove'),
    detached,
    detached_field: onRemove === 'clear' ? clearedPointer(field, within ?? null) : field,
    which: reference.changeable === undefined ? 'true' : changeableRows(reference),
  }
}
