/**
 * Counts the rows of each kind by the time of their latest change: creation, update or removal (specification 11.5). It uses the index of a sync,
 * so no commit pays for it, and it counts in a span what a sync of that span returns.
 */
import type { Database } from '../db/fair-pool.ts'
import { milliseconds, queryTextWithin } from '../db/text-query.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { StreamTable } from './stream-table.ts'

/** Steps of equal length, in milliseconds, of which the first begins at `from` and the last ends at `to`. */
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

/** SQL: when the step of this length began that contains a time. Steps are counted from the Unix epoch, in any time zone of the session. */
export const stepOf = (length: string, time: string) =>
  `date_bin(${length}, ${time}, timestamptz '1970-01-01 00:00:00Z')`

/** Steps without a change are left out. `too_long`: the statement was ended after `longest` milliseconds. */
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
