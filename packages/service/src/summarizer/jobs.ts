/**
 * The jobs of the summarizer: which conversations need a summary, when each is tried, and which worker holds it. They
 * are rows next to the conversations, so that a failed attempt changes nothing in the stream. A lease moves the due
 * time to its end, so a job is due again when its worker dies.
 */
import type { Pool } from 'pg'
import { isServedHere } from '../db/not-served.ts'
import { nilUuid } from '../kernel/ids.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'

interface JobKey {
  readonly organizationId: string
  readonly conversationId: string
}

export interface ClaimedJob extends JobKey {
  readonly leaseId: string
  /** The resolution that it summarizes, as a timestamp. */
  readonly resolvedAt: string
  readonly attempts: number
  readonly gaveUp: boolean
}

/** A position among the conversations without a summary, ordered by when they were resolved. */
export interface ConversationPosition {
  readonly resolvedAt: string
  readonly organizationId: string
  readonly id: string
}

/** Before all others: no conversation is older. */
export const firstConversation: ConversationPosition = {
  resolvedAt: '0001-01-01T00:00:00.000Z',
  organizationId: nilUuid,
  id: nilUuid,
}

const step = 1_000

export type Jobs = ReturnType<typeof createJobs>

export function createJobs(pool: Pool) {
  return {
    async isNeeded(): Promise<boolean> {
      const { rows } = await pool.query<{ needed: boolean }>({ name: 'summaries_needed', text: findAny })
      return rows[0]?.needed === true
    },

    /**
     * Creates missing jobs for conversations without a summary that were resolved by then, among the next thousand from
     * `position`. Returns the next position, null at the end. Repeatable, and safe in several processes at once.
     */
    async enqueue(
      resolvedUntil: number,
      position: ConversationPosition,
    ): Promise<ConversationPosition | null> {
      const { rows } = await pool.query<UnsummarizedRow>({
        name: 'find_unsummarized',
        text: findUnsummarized,
        values: [formatTimestamp(resolvedUntil), position.resolvedAt, position.organizationId, position.id],
      })
      const missing = Map.groupBy(
        rows.filter((row) => row.missing),
        (row) => row.organization_id,
      )
      for (const [organizationId, found] of missing) {
        await pool.query({
          name: 'add_summary_jobs',
          text: addJobs,
          values: [
            organizationId,
            found.map(({ id }) => id),
            found.map(({ resolved_at: at }) => at.toISOString()),
          ],
        })
      }
      const last = rows.at(-1)
      if (last?.ordinal !== step) return null
      return { resolvedAt: last.resolved_at.toISOString(), organizationId: last.organization_id, id: last.id }
    },

    /** Organizations with a due job, by id, after `after`. */
    async organizationsDue(now: number, after: string, limit: number): Promise<readonly string[]> {
      const { rows } = await pool.query<{ organization_id: string }>({
        name: `find_summary_organizations_${limit}`,
        text: findOrganizations(limit),
        values: [formatTimestamp(now), after],
      })
      return rows.map((row) => row.organization_id)
    },

    /** Claims jobs of the organization, longest due first. Skips jobs that another worker is claiming. */
    async claim(
      organizationId: string,
      lease: { readonly id: string; readonly workerId: string; readonly until: number },
      now: number,
      limit: number,
    ): Promise<readonly ClaimedJob[]> {
      const { rows } = await pool.query<TakenRow>({
        name: `claim_summary_jobs_${limit}`,
        text: claimJobs(limit),
        values: [
          organizationId,
          formatTimestamp(now),
          lease.id,
          formatTimestamp(lease.until),
          lease.workerId,
        ],
      })
      return rows.map((row) => ({
        organizationId,
        conversationId: row.conversation_id,
        leaseId: lease.id,
        resolvedAt: formatTimestamp(row.resolved_at.getTime()),
        attempts: row.attempts,
        gaveUp: row.gave_up,
      }))
    },

    async drop({ organizationId, conversationId, leaseId }: ClaimedJob): Promise<void> {
      await pool.query({
        name: 'drop_summary_job',
        text: 'delete from summary_jobs where organization_id = $1 and conversation_id = $2 and lease_id = $3',
        values: [organizationId, conversationId, leaseId],
      })
    },

    /** Tries the job again at `due`; a job that gave up is only checked then. */
    async postpone(
      { organizationId, conversationId, leaseId }: ClaimedJob,
      due: number,
      gaveUp: boolean,
    ): Promise<void> {
      await pool.query({
        name: 'postpone_summary_job',
        text: `update summary_jobs set due_at = $4, gave_up = $5, lease_id = null
                 where organization_id = $1 and conversation_id = $2 and lease_id = $3`,
        values: [organizationId, conversationId, leaseId, formatTimestamp(due), gaveUp],
      })
    },

    async release({ organizationId, conversationId, leaseId }: ClaimedJob, now: number): Promise<void> {
      await pool.query({
        name: 'give_back_summary_job',
        text: `update summary_jobs set due_at = $4, attempts = attempts - 1, lease_id = null
                 where organization_id = $1 and conversation_id = $2 and lease_id = $3`,
        values: [organizationId, conversationId, leaseId, formatTimestamp(now)],
      })
    },

    /**
     * Releases the jobs of an ended worker and returns their number. Their attempts count, as the worker may have died
     * of one.
     */
    async releaseAllOf(workerId: string, now: number): Promise<number> {
      const { rows } = await pool.query<LeasedRow>(
        `select j.organization_id, j.conversation_id, j.lease_id, j.attempts from summary_jobs j
           where j.worker_id = $1 and j.lease_id is not null`,
        [workerId],
      )
      for (const { organization_id, conversation_id, lease_id, attempts } of rows) {
        const wait = attempts > 1 ? (nextAttempt(attempts - 1, null) ?? 0) : 0
        await pool.query(
          `update summary_jobs set due_at = $4, lease_id = null
             where organization_id = $1 and conversation_id = $2 and lease_id = $3`,
          [organization_id, conversation_id, lease_id, formatTimestamp(now + wait)],
        )
      }
      return rows.length
    },
  }
}

interface UnsummarizedRow {
  readonly organization_id: string
  readonly id: string
  readonly resolved_at: Date
  readonly ordinal: number
  /** Whether it has no job for this resolution. */
  readonly missing: boolean
}

interface LeasedRow {
  readonly organization_id: string
  readonly conversation_id: string
  readonly lease_id: string
  readonly attempts: number
}

interface TakenRow {
  readonly conversation_id: string
  readonly resolved_at: Date
  readonly attempts: number
  readonly gave_up: boolean
}

/** Uses the indexes of the search. */
const findAny = `
  select exists (select 1 from conversations c where c.resolved_at is not null and c.summarized_at is null)
    or exists (select 1 from summary_jobs j) as needed`

/**
 * Conversations without a job, and the last of a full page, where the next one begins. Only of organizations that are
 * served here.
 */
const findUnsummarized = `
  select p.organization_id, p.id, p.resolved_at, p.ordinal, j.conversation_id is null as missing
    from (
      select c.organization_id, c.id, c.resolved_at,
          (row_number() over (order by c.resolved_at, c.organization_id, c.id))::int as ordinal
        from conversations c
        join organizations o on o.organization_id = c.organization_id and ${isServedHere('o')}
        where c.resolved_at is not null and c.summarized_at is null
          and c.resolved_at <= $1 and c.resolved_at >= $2
          and (c.resolved_at, c.organization_id, c.id) > ($2::timestamptz, $3::uuid, $4::uuid)
        order by c.resolved_at, c.organization_id, c.id limit ${step}) p
    left join summary_jobs j
      on j.organization_id = p.organization_id and j.conversation_id = p.id and j.resolved_at = p.resolved_at
    where j.conversation_id is null or p.ordinal = ${step}
    order by p.ordinal`

/** Replaces a job for an earlier resolution, whose worker can no longer complete it. */
const addJobs = `
  insert into summary_jobs (organization_id, conversation_id, resolved_at, due_at, lease_id, attempts, gave_up)
    select $1, n.id, n.resolved_at, n.resolved_at, null, 0, false
      from unnest($2::uuid[], $3::timestamptz[]) as n(id, resolved_at)
    on conflict (organization_id, conversation_id) do update
      set resolved_at = excluded.resolved_at, due_at = excluded.due_at, lease_id = null, attempts = 0, gave_up = false
      where summary_jobs.resolved_at <> excluded.resolved_at`

/** One index look-up per organization. */
function findOrganizations(limit: number): string {
  return `
  select o.organization_id from organizations o
    join lateral (
      select j.conversation_id from summary_jobs j
        where j.organization_id = o.organization_id and j.due_at <= $1 order by j.due_at limit 1) due on true
    where o.organization_id > $2 order by o.organization_id limit ${limit}`
}

function claimJobs(limit: number): string {
  return `
  update summary_jobs set lease_id = $3, due_at = $4, worker_id = $5, attempts = attempts + 1
    where organization_id = $1 and conversation_id in (
      select j.conversation_id from summary_jobs j where j.organization_id = $1 and j.due_at <= $2
        order by j.due_at, j.conversation_id limit ${limit} for update skip locked)
    returning conversation_id, resolved_at, attempts, gave_up`
}

const minute = 60_000
const longest = 240 * minute

/** The last attempt comes a day after the first. */
export const maxAttempts = 14

/** Milliseconds between checks whether a job that gave up can be deleted. */
export const checkAgainAfter = 24 * 60 * minute

/**
 * Milliseconds until the next attempt, null after the last: a minute, doubled each time, at most four hours, at least
 * `retryAfter`.
 */
export function nextAttempt(made: number, retryAfter: number | null): number | null {
  if (made >= maxAttempts) return null
  return Math.max(Math.min(minute * 2 ** (made - 1), longest), retryAfter ?? 0)
}
