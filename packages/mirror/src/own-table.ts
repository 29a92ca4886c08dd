/** Tables of the mirror's own, beside those of the kinds. */
import { MirrorError } from './error.ts'
import { derivedId, storedRow } from './row.ts'
import {
  type Column,
  type ColumnType,
  NameTaken,
  type StoredRow,
  type StoreReader,
  type StoreWriter,
  type Table,
} from './store.ts'

export const ownColumn = (field: string, name: string, type: ColumnType, comment: string): Column => ({
  field,
  name,
  type,
  comment,
  refers: false,
})

/** Creates the table unless the mirror has it. @throws NameTaken when it is somebody else's, or was changed. */
export async function makeOwn(tx: StoreWriter, table: Table, isOwn: boolean): Promise<void> {
  const drift = await tx.drift(table)
  if (drift === undefined) await tx.define(table)
  else if (!isOwn || drift.length > 0) throw new NameTaken(table.name)
}

/** Leaves these rows in the table, and no others. */
export async function replaceOwn(tx: StoreWriter, table: Table, rows: readonly StoredRow[]): Promise<void> {
  const there = new Set(rows.map(({ id }) => id))
  const held = await allOf(tx, table)
  await tx.erase(
    table,
    held.flatMap(({ id }) => (there.has(id) ? [] : [id])),
  )
  await tx.put(table, rows)
}

async function allOf(at: StoreReader, table: Table): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  for await (const piece of at.rows(table, allIds)) rows.push(...piece)
  return rows
}

/** Rows that are read and written at once. */
export const rowsOfPiece = 1_000

export const allIds = {
  after: '00000000-0000-0000-0000-000000000000',
  before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

export const schemaTable: Table = {
  name: '_deskwire_schema',
  comment: 'The columns of the copy, a row each. The mirror writes it; changes are overwritten.',
  marksRemovals: false,
  columns: [
    ownColumn('id', 'id', 'uuid', 'Derived from table and column.'),
    ownColumn('tableName', 'table_name', 'text', 'The table: `tickets`.'),
    ownColumn('columnName', 'column_name', 'text', 'The column: `customer_id`.'),
    ownColumn('field', 'field', 'text', 'The field, as in the API: `customerId`.'),
    ownColumn('type', 'type', 'text', 'uuid, text, integer, number, boolean, timestamp, json or texts.'),
    ownColumn('required', 'required', 'boolean', 'Whether no row has been without a value.'),
    ownColumn('dropped', 'dropped', 'boolean', 'Whether the service no longer has the field.'),
    ownColumn(
      'version',
      'version',
      'integer',
      'The version of the schema since which the column is as it is; the highest is the current one.',
    ),
  ],
}

const schemaNote = 'schema'

export const statusTable: Table = {
  name: '_deskwire_status',
  comment: 'The state of the copy, a row per kind. The mirror writes it; changes are overwritten.',
  marksRemovals: false,
  columns: [
    ownColumn('id', 'id', 'uuid', 'Derived from the kind.'),
    ownColumn('kind', 'kind', 'text', 'The kind, as in the API: `ticket`.'),
    ownColumn('rows', 'rows', 'integer', 'Rows of the kind in the copy.'),
    ownColumn(
      'lastChangeAt',
      'last_change_at',
      'timestamp',
      'The time of the last change that the copy holds.',
    ),
    ownColumn(
      'caughtUpAt',
      'caught_up_at',
      'timestamp',
      'When the copy last matched the service; lag counts from it.',
    ),
    ownColumn('verifiedAt', 'verified_at', 'timestamp', 'When `verify` last compared every row.'),
    ownColumn('exact', 'exact', 'boolean', 'Whether that comparison found nothing.'),
  ],
}

export const statusNote = 'status'

/**
 * Makes a new copy take over tables of these names, as of a copy whose notes were lost. @throws MirrorError when one
 * does not fit.
 */
export async function adoptOwn(tx: StoreWriter): Promise<void> {
  await adopt(tx, schemaTable)
  await tx.setNote(schemaNote, '0')
  await adopt(tx, statusTable)
  await tx.setNote(statusNote, '{}')
}

/** Creates a table, or takes over one that fits, without its rows. @throws MirrorError for one that does not fit. */
export async function adopt(tx: StoreWriter, table: Table): Promise<void> {
  const drift = await tx.drift(table)
  const other = drift?.find(({ isMissing }) => !isMissing)
  if (other !== undefined)
    throw new MirrorError(
      `${table.name} cannot be adopted, and no table was changed: ${other.text}. Change that, or rename it.`,
    )
  await tx.define(table)
  const ids: string[] = []
  for (const rows of [tx.rows(table, allIds), tx.removed(table, allIds)])
    for await (const piece of rows) ids.push(...piece.map(({ id }) => id))
  while (ids.length > 0) await tx.erase(table, ids.splice(0, rowsOfPiece))
}

/**
 * Writes the columns of these tables as they are from this version on. @throws NameTaken when the table is not the
 * mirror's.
 */
export async function recordSchema(
  tx: StoreWriter,
  tables: readonly Table[],
  version: number,
): Promise<void> {
  await makeOwn(tx, schemaTable, (await tx.note(schemaNote)) !== undefined)
  const held = new Map((await allOf(tx, schemaTable)).map(({ id, text }) => [id, text]))
  const rows = tables.flatMap((table) =>
    table.columns.map((column) => {
      const { field, type, required = false, dropped = false } = column
      const names = { tableName: table.name, columnName: column.name }
      const id = derivedId(`${table.name}.${column.name}`)
      const members = { id, ...names, field, type, required, dropped }
      const text = JSON.stringify(members)
      const [, since = version] = /^(\d+) /.exec(held.get(id) ?? '') ?? []
      const isSame = held.get(id) === `${since} ${text}`
      const now = isSame ? Number(since) : version
      return { ...storedRow(schemaTable, text, { ...members, version: now }), text: `${now} ${text}` }
    }),
  )
  await replaceOwn(tx, schemaTable, rows)
  await tx.setNote(schemaNote, String(version))
}
