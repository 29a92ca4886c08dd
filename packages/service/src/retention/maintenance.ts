/**
 * Periodic maintenance: erases removed objects from payloads and stored responses (specification 4.9) and clears
 * references to them, deletes expired stored responses, creates and drops partitions of the log, and logs organizations
 * near their storage limit. Every step can be repeated, and run in several processes.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { notServedOrganizations } from '../db/not-served.ts'
import { byOrganization, removeInSteps, step, stepByStep } from '../db/steps.ts'
import { noLimits, type StorageLimits } from '../journal/change.ts'
import { loggable } from '../kernel/log.ts'
import { periodic } from '../kernel/periodic.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { deleteStoredResponses, detachPayloads, erasePayloads } from './erasure.ts'
import { dropLogWeeks, makeLogWeeks, removeStrays, weeksText } from './log-weeks.ts'

/** Milliseconds from the end of a run to the next: an erasure may take a day. */
const interval = 10 * 60 * 1000
/** Milliseconds for which an ended session is reported as ended and not as unknown. */
const endedSessionsKept = 24 * 60 * 60 * 1000
/** Milliseconds that a stop waits for the running statement, which then ends with the pool. */
const stopWithin = 5_000

export type Maintenance = ReturnType<typeof createMaintenance>

export function createMaintenance(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  /** How far back the delivery log goes, in milliseconds. */
  readonly logRetention: number
  readonly storage?: StorageLimits
  /** More steps, by name. */
  readonly also?: Readonly<Record<string, () => Promise<void>>>
  /** Called after each step. */
  readonly onStep?: (step: string, hasFailed: boolean) => void
}) {
  const { pool, clock, log, logRetention, storage = noLimits, also = {}, onStep = () => {} } = options

  /** A step that fails is tried again in the next run, and keeps no other from running. */
  async function runOn(pool: Pool, signal?: AbortSignal): Promise<void> {
    const steps: Readonly<Record<string, () => Promise<void>>> = {
      // First, because commits need it.
      make_log_weeks: () => makeWeeks(pool),
      erase_payloads: () => erasePayloads(pool, clock),
      detach_payloads: () => detachPayloads(pool),
      trim_commits: () => trimCommits(pool),
      delete_responses: () => deleteStoredResponses(pool, clock),
      remove_orphans: () => removeOrphans(pool),
      remove_recoveries: () => removeRecoveries(pool, clock.now() - logRetention),
      remove_console_links: () => removeConsoleLinks(pool, clock.now() - endedSessionsKept),
      drop_log_weeks: () => dropLogWeeks(pool, clock.now(), logRetention),
      remove_strays: () => removeStrays(pool, clock.now(), logRetention),
      check_storage: () => warnNearLimits(pool),
      ...also,
    }
    for (const [step, run] of Object.entries(steps)) {
      const failure = await run().then(
        () => null,
        (error: Error) => error,
      )
      if (signal?.aborted) return
      onStep(step, failure !== null)
      if (failure !== null)
        log.warn({ step, err: loggable(failure) }, 'a step of maintenance failed; it will be tried again')
    }
  }

  async function makeWeeks(pool: Pool): Promise<void> {
    const missing = await makeLogWeeks(pool, clock.now())
    if (missing.length > 0)
      log.warn(
        { missing: weeksText(missing) },
        'partitions of the log could not be made; they will be tried again',
      )
  }

  async function warnNearLimits(pool: Pool): Promise<void> {
    for (const { organizationId, rows, bytes } of await nearLimits(pool, storage)) {
      const used = { rows, maxRows: storage.rows, bytes, maxBytes: storage.bytes }
      log.warn({ organizationId, ...used }, 'an organization has 80 % or more of what it may store')
    }
  }

  const loop = periodic({
    every: interval,
    stopWithin,
    run: (signal) => runOn(untilAborted(pool, signal), signal),
    onFailure: (error) => log.warn({ err: loggable(error) }, 'maintenance failed; it will be tried again'),
  })
  /** `start`: runs repeatedly until stopped, one run at a time. */
  return { run: () => runOn(pool), start: loop.start, stop: loop.stop }
}

/** The same pool, which starts no statement after the signal. */
function untilAborted(pool: Pool, signal: AbortSignal): Pool {
  const unlessAborted =
    (method: 'query' | 'connect') =>
    (...call: unknown[]) => {
      signal.throwIfAborted()
      return Reflect.apply(pool[method], pool, call)
    }
  return Object.assign(Object.create(pool) as Pool, {
    query: unlessAborted('query'),
    connect: unlessAborted('connect'),
  })
}

function removeOrphans(pool: Pool): Promise<void> {
  return byOrganization<{ organization_id: string; webhook_id: string }>(
    pool,
    (failed) =>
      `select e.organization_id, e.subject_id as webhook_id from erasures e
         where e.what = 'endpoint' and e.organization_id <> all(${failed})`,
    [],
    async (organizationId, rows) => {
      for (const { webhook_id: webhookId } of rows) {
        await stepByStep(() => removeSome(pool, organizationId, webhookId))
        await stepByStep(() => removeStats(pool, organizationId, webhookId))
        await pool.query('delete from erasures where organization_id = $1 and subject_id = $2', [
          organizationId,
          webhookId,
        ])
      }
    },
  )
}

function removeRecoveries(pool: Pool, before: number): Promise<void> {
  return removeInSteps(
    pool,
    (failed) => `select r.organization_id, r.webhook_id, r.id from delivery_jobs r
       where r.finished_at <= $1 and r.organization_id <> all(${failed}) and r.organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(before)],
    'delete from delivery_jobs where organization_id = $1 and webhook_id = any($2) and id = any($3)',
  )
}

function removeConsoleLinks(pool: Pool, before: number): Promise<void> {
  return removeInSteps(
    pool,
    (failed) => `select c.organization_id, c.id from console_links c
       where c.expires_at <= $1 and c.organization_id <> all(${failed}) and c.organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(before)],
    'delete from console_links where organization_id = $1 and id = any($2)',
  )
}

async function removeSome(pool: Pool, organizationId: string, webhookId: string): Promise<number> {
  const { rows } = await pool.query<{ ids: string[] | null }>(
    `select array_agg(s.id) as ids from (
       select d.id from deliveries d where d.organization_id = $1 and d.webhook_id = $2 limit ${step}) s`,
    [organizationId, webhookId],
  )
  const ids = rows[0]?.ids ?? []
  await pool.query('delete from attempts where organization_id = $1 and delivery_id = any($2)', [
    organizationId,
    ids,
  ])
  await pool.query('delete from deliveries where organization_id = $1 and webhook_id = $2 and id = any($3)', [
    organizationId,
    webhookId,
    ids,
  ])
  return ids.length
}

async function removeStats(pool: Pool, organizationId: string, webhookId: string): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from delivery_stats where organization_id = $1 and webhook_id = $2 and (minutes, at) in (
       select s.minutes, s.at from delivery_stats s where s.organization_id = $1 and s.webhook_id = $2 limit ${step})`,
    [organizationId, webhookId],
  )
  return rowCount ?? 0
}

interface Counted {
  readonly organization_id: string
  readonly kind: string
  readonly latest: Date
}

/** Deletes what commits have counted before the latest, which says all. Commits add rows after these meanwhile. */
function trimCommits(pool: Pool): Promise<void> {
  return byOrganization<Counted>(
    pool,
    (failed) =>
      `select c.organization_id, c.kind, max(c.stamp) as latest from commits c
         where c.organization_id <> all(${failed}) and c.organization_id <> all(${notServedOrganizations})
         group by c.organization_id, c.kind having count(*) > 1`,
    [],
    async (organizationId, rows) => {
      for (const { kind, latest } of rows)
        await pool.query('delete from commits where organization_id = $1 and kind = $2 and stamp < $3', [
          organizationId,
          kind,
          latest,
        ])
    },
  )
}

/** The largest organizations by each measure, descending, without those that store nothing. */
interface LargestStores {
  readonly rows: readonly number[]
  /** Of the bodies of existing rows. */
  readonly bytes: readonly number[]
  readonly removed: readonly number[]
  /** Rows of events, deliveries and attempts: estimated. */
  readonly log: readonly number[]
}

export const storesRanked = 10

/** The organizations that store most, by the counts of commits; the log from the planner's statistics. */
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
    order by m.${measure} desc limit ${storesRanked}) as ${measure}`
}

interface NearLimit {
  readonly organizationId: string
  readonly rows: number
  readonly bytes: number
}

const near = 0.8

/** Organizations at 80 % or more of a limit, the highest first, at most `storesRanked`; none without limits. */
async function nearLimits(pool: Pool, { rows, bytes }: StorageLimits): Promise<readonly NearLimit[]> {
  if (rows === null && bytes === null) return []
  const found = await pool.query<NearLimit>(
    `select s.organization_id as "organizationId", s.rows, s.bytes
       from (select c.organization_id, sum(c.live_count)::float8 as rows, sum(c.stored_bytes)::float8 as bytes
         from kind_counters c group by c.organization_id) s
       where greatest(s.rows / $1, s.bytes / $2) >= ${near}
       order by greatest(s.rows / $1, s.bytes / $2) desc limit ${storesRanked}`,
    [rows, bytes],
  )
  return found.rows
}
