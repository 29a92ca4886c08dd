/** What the database holds at the end: the last lines of a history. */
import type { Pool } from 'pg'
import { kinds } from '../../../packages/service/src/desk/index.ts'
import type { Stored } from '../history/format.ts'
import { versionOf } from './recorder.ts'

const rowsAtOnce = 1_000

/** Rows and removal records of the organization, a thousand a line. */
export async function* storedLines(pool: Pool, organizationId: string): AsyncGenerator<Stored> {
  for (const { table } of kinds) {
    let after = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const { rows } = await pool.query<{ id: string; body: string }>(
        `select t.id, t.body from ${table.name} t where t.organization_id = $1 and t.id > $2
           order by t.id limit ${rowsAtOnce}`,
        [organizationId, after],
      )
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.id
      yield { does: 'stored', versions: rows.map(({ body }) => versionOf(body)) }
    }
  }
}
