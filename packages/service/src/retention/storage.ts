/** The organizations that store most (decision 33), by the counts of commits. The log is estimated from the planner's statistics. */
import type { Pool } from 'pg'
import type { StorageLimits } from '../journal/change.ts'

/** The largest organizations by each measure, descending, without those that store nothing. */
interface LargestStores {
  readonly rows: readonly number[]
  /** Of the bodies of existing rows. */
  readonly bytes: readonly number[]
  readonly removed: readonly number[]
  /** Rows of events, deliveries and attempts: estimated. */
  readonly log: readonly number[]
}

export const largest = 10

export async function largestStores(pool: Pool): Promise<LargestStores> {
  const { rows } = await pool.query<LargestStores>({
    name: 'largest_stores',
    text: `with stored as materialized (
        select c.organization_id, sum(c.live_count)::float8 as rows, sum(c.stored_bytes)::float8 as bytes,
            sum(c.removed_count)::float8 as removed
          from kind_counters c group by c.organization_id),
      logged as materialized (
        select v.organization_id, sum(greatest(p.reltuples, 0) * v.share)::float8 as log
          from unnest(array['events', 'deliveries', 'attempts']) as t(name)
          cross join pg_partition_tree(t.name::regclass) as l
          join pg_class p on p.oid = l.relid
          join pg_namespace n on n.oid = p.relnamespace
          join pg_stats s on s.schemaname = n.nspname and s.tablename = p.relname and s.attname = 'organization_id'
          cross join unnest(s.most_common_vals::text::uuid[], s.most_common_freqs) as v(organization_id, share)
          where l.isleaf group by v.organization_id)
      select ${['rows', 'bytes', 'removed'].map((measure) => maxOf('stored', measure)).join(', ')}, ${maxOf('logged', 'log')}`,
  })
  const [found] = rows
  if (found === undefined) throw new Error('the largest stores have no row')
  return found
}

function maxOf(source: string, measure: string): string {
  return `array(select round(m.${measure}) from ${source} m where m.${measure} > 0
    order by m.${measure} desc limit ${largest}) as ${measure}`
}

interface NearLimit {
  readonly organizationId: string
  readonly rows: number
  readonly bytes: number
}

const near = 0.8

/** Organizations at 80 % or more of a limit, the highest first, at most `largest`; none without limits. */
export async function nearLimits(pool: Pool, { rows, bytes }: StorageLimits): Promise<readonly NearLimit[]> {
  if (rows === null && bytes === null) return []
  const found = await pool.query<NearLimit>(
    `select s.organization_id as "organizationId", s.rows, s.bytes
       from (select c.organization_id, sum(c.live_count)::float8 as rows, sum(c.stored_bytes)::float8 as bytes
         from kind_counters c group by c.organization_id) s
       where greatest(s.rows / $1, s.bytes / $2) >= ${near}
       order by greatest(s.rows / $1, s.bytes / $2) desc limit ${largest}`,
    [rows, bytes],
  )
  return found.rows
}
