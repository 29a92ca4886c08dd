/**
 * Who stores most (decision 33). Rows and bytes are counted with each commit and added up here. The log is not counted: how
 * much of it is an organization's is an estimate from the planner's statistics, which PostgreSQL renews by itself, so
 * that it costs the same however long the log is.
 */
import type { Pool } from 'pg'
import type { StorageLimits } from '../journal/change.ts'

/** The largest organizations by each measure, most first; of an organization that stores nothing there is no figure. */
interface LargestStores {
  /** Existing rows of all kinds. */
  readonly rows: readonly number[]
  /** Bytes of their bodies. */
  readonly bytes: readonly number[]
  /** Removal records, which stay. */
  readonly removed: readonly number[]
  /** Rows of events, deliveries and attempts: an estimate. */
  readonly log: readonly number[]
}

/** How many of the largest are told of. */
export const largest = 10

/**
 * The largest by each measure, over all organizations: one pass over the counters, and one over the statistics. Of 10,000
 * organizations with six kinds each it took 131 ms on a busy machine.
 */
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
      select ${['rows', 'bytes', 'removed'].map((measure) => mostOf('stored', measure)).join(', ')}, ${mostOf('logged', 'log')}`,
  })
  const [found] = rows
  if (found === undefined) throw new Error('the largest stores have no row')
  return found
}

function mostOf(source: string, measure: string): string {
  return `array(select round(m.${measure}) from ${source} m where m.${measure} > 0
    order by m.${measure} desc limit ${largest}) as ${measure}`
}

/** An organization that has come near to what it may store. */
interface NearLimit {
  readonly organizationId: string
  readonly rows: number
  readonly bytes: number
}

/** Of a limit, before anybody is told. */
const near = 0.8

/** Those that have 80 % and more of a limit, the nearest first, and no more than are told of; none without limits. */
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
