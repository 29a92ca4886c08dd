/** Computes checkpoints from the rows. A restore is checked against them, as clients check their copies. */
import type { Pool } from 'pg'
import { modulo, timestampText } from '../journal/body.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import type { End } from './format.ts'

type Checkpoint = End['checkpoints'][number]

/** Count and digest of the existing rows of these tables, by organization, in a fixed order. */
export async function checkpointsOf(
  db: Pick<Pool, 'query'>,
  tables: readonly string[],
): Promise<readonly Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  for (const table of tables) {
    const { rows } = await db.query<{ organization_id: string; count: string; digest: string }>(
      `select t.organization_id, count(*) as count, ${digestOfRows} as digest
         from ${table} t where t.removed_at is null group by t.organization_id order by t.organization_id`,
    )
    checkpoints.push(
      ...rows.map((row) => ({
        table,
        organizationId: row.organization_id,
        count: Number(row.count),
        digest: row.digest,
      })),
    )
  }
  return checkpoints
}

const term = `version_term(t.id, ${timestampText('t.updated_at')})`
const digestOfRows = `${modulo(`sum(${term})`)}::text`

/** The checkpoints that differ from those served to clients: rows were changed by hand. `tables`: all stream tables. */
export async function unlikeServed(
  db: Pick<Pool, 'query'>,
  tables: readonly StreamTable[],
  real: readonly Checkpoint[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ organization_id: string; kind: string; count: string; digest: string }>(
    `select k.organization_id, k.kind, k.live_count as count, ${modulo('k.digest')}::text as digest
       from kind_counters k where k.live_count <> 0 or k.digest <> 0`,
  )
  const names = new Map(tables.map(({ kind, name }) => [kind, name]))
  const served = new Map(
    rows.map((row) => [`${names.get(row.kind)} of ${row.organization_id}`, `${row.count} ${row.digest}`]),
  )
  const held = new Map(
    real.map((one) => [`${one.table} of ${one.organizationId}`, `${one.count} ${one.digest}`]),
  )
  return [...new Set([...served.keys(), ...held.keys()])].filter((key) => served.get(key) !== held.get(key))
}
