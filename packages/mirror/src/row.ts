/** What stands in the columns of a row: a pure function of its text, so that a column that says otherwise is found. */
import type { Cell, Column, ColumnType, Store, StoredRow, Table } from './store.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A row as JSON.parse has made it. */
export type Members = Readonly<Record<string, unknown>>

/** A value that is not of its column's type leaves the column empty: the text has it. */
const cellOf: Record<ColumnType, (value: unknown) => Cell> = {
  uuid: (value) => (typeof value === 'string' && uuid.test(value) ? value : null),
  text: (value) => (typeof value === 'string' ? value : null),
  integer: (value) => (Number.isSafeInteger(value) ? (value as number) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  timestamp: (value) => (typeof value === 'string' && time.test(value) ? value : null),
  json: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
}

export const cellsOf = ({ columns }: Table, members: Members): Cell[] =>
  columns.map(({ field, type }) => cellOf[type](members[field]))

/** A row of the service, and what JSON.parse made of it. */
export const storedRow = (table: Table, text: string, members: Members): StoredRow => ({
  id: members.id as string,
  text,
  cells: cellsOf(table, members),
})

/** The row's text as JSON, where it is that of an object. */
export function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

/** The version that a text says it is; empty for a text that says none. */
export const updatedAtOf = (members: Members | undefined): string =>
  typeof members?.updatedAt === 'string' ? members.updatedAt : ''

/** The columns, by name, in which a stored row is not what these members make of it. */
export function wrongColumns(store: Store, table: Table, row: StoredRow, members: Members): string[] {
  const wrong: string[] = []
  for (const [n, column] of table.columns.entries()) {
    const cell = cellOf[column.type](members[column.field])
    if (!isSame(store, column, cell, row.cells[n] ?? null)) wrong.push(column.name)
  }
  return wrong
}

function isSame(store: Store, column: Column, cell: Cell, held: Cell): boolean {
  return cell === held || (cell !== null && held === (store.shown?.(column, cell) ?? cell))
}
