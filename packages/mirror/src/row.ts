/** What stands in the columns of a row: a pure function of its text, so that a column that says otherwise is found. */
import { hash } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import type { Cell, Column, ColumnType, RemovedRow, Store, StoredRow, Table } from './store.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A row as readJson has made it. */
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

/** A row of the service, and what readJson made of it. */
export const storedRow = (table: Table, text: string, members: Members): StoredRow => ({
  id: members.id as string,
  text,
  cells: cellsOf(table, members),
})

/** U+0000, or half of a surrogate pair, in a text; and as JSON.stringify writes them. */
const [inText, inJson] = [/\0|\p{Surrogate}/u, /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/]

/** Why a column of text or JSON cannot hold what a row says: databases take neither of these, or change it in silence. */
export function unholdable({ columns }: Table, { cells }: StoredRow): string | undefined {
  const at = columns.findIndex(({ type }, n) => {
    const cell = cells[n]
    return typeof cell === 'string' && (type === 'json' ? inJson : inText).test(cell)
  })
  return at < 0
    ? undefined
    : `${columns[at]?.field} holds U+0000 or half of a surrogate pair, which the store cannot hold`
}

export const isUuid = (id: string) => uuid.test(id)

/** What `_removal` holds: when the row was removed, and a digest of all that the mirror knew of it then. */
export const removalOf = (id: string, removedAt: string, text: string) =>
  `${removedAt} ${hash('sha256', `${id}:${removedAt}:${text}`).slice(0, 16)}`

/** When the mirror marked a row as removed; undefined where its text or the mark itself was changed since. */
export function removedAtOf({ id, text, removal }: RemovedRow): string | undefined {
  const [removedAt = ''] = removal.split(' ')
  return removal === removalOf(id, removedAt, text) ? removedAt : undefined
}

/** A time as one of the stores shows it, as it was written. */
export function isoTime(shown: Cell): string {
  const text = String(shown)
  const micros = /^\d+$/.test(text) ? Number(text) / 1_000 : undefined
  return new Date(micros ?? text.replace(' ', 'T').replace(/\+00$/, 'Z')).toISOString()
}

/** The row's text as JSON, where it is that of an object. */
export function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = readJson(text)
    return typeof value === 'object' && value !== null ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

/** The version that a text says it is; empty for a text that says none. */
export const updatedAtOf = (members: Members | undefined): string =>
  typeof members?.updatedAt === 'string' ? members.updatedAt : ''

/** The columns, by name, in which a stored row is not what these members and the time of its removal, if any, make of it. */
export function wrongColumns(
  store: Store,
  table: Table,
  row: StoredRow,
  members: Members,
  removedAt: string | null = null,
): string[] {
  const wrong: string[] = []
  for (const [n, column] of table.columns.entries()) {
    const cell = cellOf[column.type](members[column.field])
    if (!isSame(store, column, cell, row.cells[n] ?? null)) wrong.push(column.name)
  }
  if (!isSame(store, { type: 'timestamp' }, removedAt, row.removedAt ?? null)) wrong.push('removed_at')
  return wrong
}

function isSame(store: Store, column: Pick<Column, 'type'>, cell: Cell, held: Cell): boolean {
  return cell === held || (cell !== null && held === (store.shown?.(column, cell) ?? cell))
}
