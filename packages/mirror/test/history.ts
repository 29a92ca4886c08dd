/** What the versions beside a copy are, and what is wrong with them, by the databases' own clients. */
import { isoTime } from '../src/row.ts'
import type { Place } from './stores.ts'

type Sql = Pick<Place, 'sql'>

export interface Version {
  readonly from: string
  readonly to: string | null
  readonly row: Record<string, unknown>
}

/** The versions of a row, or of all rows of a table, the first one first. */
export async function versionsIn(at: Sql, plural: string, id?: string): Promise<Version[]> {
  const where = id === undefined ? '' : `where row_id = '${id}'`
  const rows = await at.sql(`select * from ${plural}_history ${where} order by row_id, valid_from`)
  const time = (value: unknown) => (value instanceof Date ? value.toISOString() : isoTime(value as string))
  return rows.map((row) => ({
    from: time(row.valid_from),
    to: row.valid_to === null ? null : time(row.valid_to),
    row,
  }))
}

/** Versions that leave a gap or overlap, and rows whose open version is not there once with their text; nothing for a sound history. */
export async function historyFaults(at: Sql, plurals: readonly string[]): Promise<string[]> {
  const faults: string[] = []
  for (const plural of plurals) {
    const versions = await versionsIn(at, plural)
    for (const [n, { from, to, row }] of versions.entries()) {
      const next = versions[n + 1]
      if (to !== null && to < from) faults.push(`${plural} ${row.row_id} ends before ${from}`)
      if (next?.row.row_id === row.row_id && next?.from !== to)
        faults.push(`${plural} ${row.row_id} ${to} is followed by ${next?.from}`)
    }
    const open = new Map(versions.filter(({ to }) => to === null).map(({ row }) => [row.row_id, row._body]))
    const rows = await at.sql(`select * from ${plural}`)
    const existing = rows.filter((row) => (row.removed_at ?? null) === null)
    for (const { id, _body } of existing)
      if (open.get(id) !== _body) faults.push(`${plural} ${id} is another than its version`)
    if (open.size !== existing.length) faults.push(`${plural}: ${open.size} open of ${existing.length}`)
  }
  return faults
}
