/** Single rows by id: what GET answers, and what a change is decided on. */
import type { Pool } from 'pg'
import { coalesce } from '../kernel/coalesce.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { StreamTable } from './stream-table.ts'

export interface StoredRow {
  /** The representation, exactly as GET answers it. */
  readonly body: string
  /** Its version, as the wire writes it. */
  readonly updatedAt: string
}

export interface RowReader {
  /** The existing row, or null when there is none, it was removed, or it is another organization's. */
  read(organizationId: string, id: string): Promise<StoredRow | null>
}

/** Reads rows of one table; concurrent reads of one organization share a query. */
export function createRowReader(pool: Pool, table: StreamTable): RowReader {
  const statement = {
    name: `read_${table.name}`,
    text: `select t.id, t.body, t.updated_at from ${table.name} t
             where t.organization_id = $1 and t.id = any($2) and t.removed_at is null`,
  }
  const readers = new Map<string, { read: (id: string) => Promise<StoredRow | null>; waiting: number }>()

  async function load(organizationId: string, ids: readonly string[]): Promise<(StoredRow | null)[]> {
    const { rows } = await pool.query<{ id: string; body: string; updated_at: Date }>({
      ...statement,
      values: [organizationId, [...new Set(ids)]],
    })
    const found = new Map(
      rows.map((row) => [row.id, { body: row.body, updatedAt: formatTimestamp(row.updated_at.getTime()) }]),
    )
    return ids.map((id) => found.get(id) ?? null)
  }

  return {
    async read(organizationId, id) {
      let reader = readers.get(organizationId)
      if (reader === undefined) {
        reader = { read: coalesce((ids: readonly string[]) => load(organizationId, ids)), waiting: 0 }
        readers.set(organizationId, reader)
      }
      reader.waiting++
      try {
        return await reader.read(id)
      } finally {
        // An organization that nobody reads just now costs no memory.
        if (--reader.waiting === 0) readers.delete(organizationId)
      }
    },
  }
}
