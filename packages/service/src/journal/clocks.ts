import type { Pool } from 'pg'
import { hiddenArray } from '../db/text-query.ts'
import type { ReadClocks } from './waiting-readers.ts'

/** Reads the last stamps of organizations, in one query. */
export function createReadClocks(pool: Pool): ReadClocks {
  return async (organizationIds) => {
    const { rows } = await pool.query<{ organization_id: string; last_stamp: Date }>({
      name: 'read_clocks',
      text: `select c.organization_id, c.last_stamp from organization_clocks c
               where c.organization_id = any(${hiddenArray('$1', 'uuid')})`,
      values: [organizationIds],
    })
    return new Map(rows.map((row) => [row.organization_id, row.last_stamp.getTime()]))
  }
}
