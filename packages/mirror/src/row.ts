/** The columns of a row: a pure function of its text, so that a changed column is found. */
import { hash } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import type { Cell, Column, ColumnType, RemovedRow, Store, StoredRow, Table } from './store.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A parsed row. */
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
  texts: (value) => (isTexts(value) ? JSON.stringify(value) : null),
}

/** Whether a column of the type is not empty for a value, as far as a look tells. */
export const takes: Record<ColumnType, (value: unknown) => boolean> = {
  uuid: (value) => typeof value === 'string' || isNone(value),
  text: (value) => typeof value === 'string' || isNone(value),
  integer: (value) => Number.isSafeInteger(value) || isNone(value),
  number: (value) => typeof value === 'number' || isNone(value),
  boolean: (value) => typeof value === 'boolean' || isNone(value),
  timestamp: (value) => typeof value === 'string' || isNone(value),
  json: () => true,
  texts: (value) => Array.isArray(value) || isNone(value),
}

const isNone = (value: unknown) => value === null || value === undefined

const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string')

export const cellsOf = ({ columns }: Table, members: Members): Cell[] =>
  columns.map(({ field, type }) => cellOf[type](members[field]))

/** A row of the service, with its parsed members. */
export const storedRow = (table: Table, text: string, members: Members): StoredRow => ({
  id: members.id as string,
  text,
  cells: cellsOf(table, members),
})

/** U+0000, or half of a surrogate pair, in a text; and as JSON.stringify writes them. */
const [inText, inJson] = [/\0|\p{Surrogate}/u, /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/]

/** Why a text or JSON column cannot hold a row's value: databases refuse these characters, or change them silently. */
export function unholdable({ columns }: Table, { cells }: StoredRow): string | undefined {
  const at = columns.findIndex(({ type }, n) => {
    const cell = cells[n]
    return typeof cell === 'string' && (type === 'json' || type === 'texts' ? inJson : inText).test(cell)
  })
  return at < 0
    ? undefined
    : `${columns[at]?.field} holds U+0000 or half of a surrogate pair, which the store cannot hold`
}

/** An id that belongs to a text, for rows that the mirror makes up. */
export const derivedId = (text: string) =>
  hash('sha256', text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')

export const isUuid = (id: string) => uuid.test(id)

/** The content of `_removal`: when the row was removed, and a digest of the mirror's data then. */
export const removalOf = (id: string, removedAt: string, text: string) =>
  `${removedAt} ${hash('sha256', `${id}:${removedAt}:${text}`).slice(0, 16)}`

/** When the mirror marked a row as removed; undefined if its text or the mark was changed since. */
export function removedAtOf({ id, text, removal }: RemovedRow): string | undefined {
  const [removedAt = ''] = removal.split(' ')
  return removal === removalOf(id, removedAt, text) ? removedAt : undefined
}

/** A time as one of the stores shows it, in its original form. */
export function isoTime(shown: Cell): string {
  const text = String(shown)
  const micros = /^\d+$/.test(text) ? Number(text) / 1_000 : undefined
  return new Date(micros ?? text.replace(' ', 'T').replace(/\+00$/, 'Z')).toISOString()
}

/** The row's text parsed; undefined unless it is a JSON object. */
export function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = readJson(text)
    return typeof value === 'object' && value !== null ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

/** The version in a text; empty without one. */
export const updatedAtOf = (members: Members | undefined): string =>
  typeof members?.updatedAt === 'string' ? members.updatedAt : ''

/** The names of the columns that differ from what these members and the time of the removal, if any, give. */
export function wrongColumns(
  store: Store,
  table: Table,
  row: StoredRow,
  members: Members,
  removedAt: string | null = null,
): string[] {
  const wrong: string[] = []
  for (let n = 0; n < table.columns.length; n++) {
    const column = table.columns[n] as Column
    const value = members[column.field]
    const cell = cellOf[column.type](value)
    if (!isSame(store, column, { cell, value }, row.cells[n] ?? null)) wrong.push(column.name)
  }
  const removal = { cell: removedAt, value: removedAt }
  if (!isSame(store, { type: 'timestamp' }, removal, row.removedAt ?? null)) wrong.push('removed_at')
  return wrong
}

function isSame(
  store: Store,
  column: Pick<Column, 'type'>,
  { cell, value }: { readonly cell: Cell; readonly value: unknown },
  held: Cell,
): boolean {
  return cell === held || (cell !== null && held === (store.shown?.(column, cell, value) ?? cell))
}
