/** Tables of the mirror's own, beside those of the kinds. */
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
  const [after, before] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
  for await (const piece of at.rows(table, { after, before })) rows.push(...piece)
  return rows
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

/** Makes a new copy take over a table of this name, as of a copy whose notes were lost. */
export async function claimSchema(tx: StoreWriter): Promise<void> {
  await tx.setNote(schemaNote, '0')
}

/** Writes the columns of these tables as they are from this version on. @throws NameTaken when the table is not the mirror's. */
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
