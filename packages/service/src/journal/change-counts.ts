/** Counts rows by kind and time of their latest change (specification 11.5), by a sync's index: commits pay nothing. */
import type { Database } from '../db/fair-pool.ts'
import { milliseconds, queryTextWithin } from '../db/text-query.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { StreamTable } from './stream-table.ts'

/** Steps of equal length, in milliseconds, from `from` to `to`. */
export interface Steps {
  readonly from: number
  readonly to: number
  readonly length: number
}

export interface ChangeCount {
  /** When the step began, in milliseconds since the Unix epoch. */
  readonly at: number
  readonly kind: string
  readonly count: number
}

/** SQL: the start of the step that contains a time, counted from the Unix epoch in any time zone of the session. */
export const stepOf = (length: string, time: string) =>
  `date_bin(${length}, ${time}, timestamptz '1970-01-01 00:00:00Z')`

/** Steps without a change are left out. `too_long`: the statement ran longer than `longest` milliseconds. */
export async function countChanges(
  database: Pick<Database, 'ofLong'>,
  organizationId: string,
  tables: readonly Pick<StreamTable, 'kind' | 'name'>[],
  { from, to, length }: Steps,
  longest: number,
): Promise<readonly ChangeCount[] | 'too_long'> {
  if (tables.length === 0) return []
  const step = stepOf('$4::interval', 't.updated_at')
  const text = tables
    .map(
      ({ kind, name }) => `select '${kind}', ${milliseconds(step)}, count(*) from ${name} t
        where t.organization_id = $1::uuid and t.updated_at >= $2::timestamptz and t.updated_at < $3::timestamptz group by 2`,
    )
    .join(' union all ')
  const values = [organizationId, formatTimestamp(from), formatTimestamp(to), `${length} milliseconds`]
  const rows = await queryTextWithin(database.ofLong(organizationId), longest, text, values)
  if (rows === 'too_long') return rows
  return rows.map(([kind, at, count]) => ({ kind: String(kind), at: Number(at), count: Number(count) }))
}
