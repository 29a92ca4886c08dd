/**
 * The versions of a kind's rows, in a table beside it. Each is written in the transaction that writes the row, and
 * has an id of row and time, so that the same version never comes twice.
 */
import { ownColumn } from './own-table.ts'
import { derivedId, isoTime, membersOf, storedRow, updatedAtOf } from './row.ts'
import type { StoredRow, Table } from './store.ts'

const own = [
  ownColumn('id', 'id', 'uuid', 'Of this version.'),
  { ...ownColumn('rowId', 'row_id', 'uuid', 'The id of the row.'), refers: true },
  ownColumn('validFrom', 'valid_from', 'timestamp', 'When this version was committed: `updatedAt`.'),
  ownColumn(
    'validTo',
    'valid_to',
    'timestamp',
    'When the next one was, or the row was removed; null for now.',
  ),
]
const validTo = own.length - 1

export function historyOf({ name, columns }: Table): Table {
  const next = name.endsWith('_next') ? '_next' : ''
  const plain = name.slice(0, name.length - next.length)
  return {
    name: `${plain}_history${next}`,
    comment: `Each version of a row of ${plain} that the mirror has met.`,
    columns: [...own, ...columns.slice(1).map((column) => ({ ...column, required: false }))],
    marksRemovals: false,
  }
}

/** When a row's version was committed. */
export function versionTime(table: Table, { cells }: StoredRow): string {
  return cells[table.columns.findIndex(({ field }) => field === 'updatedAt')] as string
}

/** A row as the version that is valid now. */
export function versionOf(table: Table, row: StoredRow): StoredRow {
  const from = versionTime(table, row)
  const id = derivedId(`${row.id} ${from}`)
  return { id, text: row.text, cells: [id, row.id, from, null, ...row.cells.slice(1)] }
}

/** A version as it is read, with its columns made of its text again; undefined when the text is not a row's. */
export function refilled(history: Table, { id, text, cells }: StoredRow): StoredRow | undefined {
  const members = membersOf(text)
  if (members === undefined) return undefined
  const to = cells[validTo] ?? null
  const ends = { rowId: cells[1], validFrom: updatedAtOf(members), validTo: to && isoTime(to) }
  return storedRow(history, text, { ...members, id, ...ends })
}
