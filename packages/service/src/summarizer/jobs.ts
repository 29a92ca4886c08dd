/**
 * The jobs of the summarizer: which conversations need a summary, and when each is tried. They are rows next to the
 * conversations, so that a failed attempt changes nothing in the stream. Claiming a job moves its due time to the end
 * of a lease, and counts an attempt; so it is due again when its worker dies, and only the worker of the latest attempt
 * ends it.
 */
import type { Pool } from 'pg'
import { isServedHere } from '../db/not-served.ts'
import { nilUuid } from '../kernel/ids.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'

export interface SummaryJob {
  readonly organizationId: string
  readonly conversationId: string
  /** The resolution that it summarizes, as a timestamp. */
  readonly resolvedAt: string
  /** With this one. */
  readonly attempts: number
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

const step = 5_000

export type SummaryJobs = ReturnType<typeof createSummaryJobs>

export function createSummaryJobs(pool: Pool) {
  return {
    /**
     * Creates missing jobs for conversations without a summary that were resolved by then, among the next thousands
     * from `position`. Returns the next position, the first one at the end. Repeatable, and safe in several processes
     * at once.
     */
    async enqueue(resolvedUntil: number, position: ConversationPosition): Promise<ConversationPosition> {
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
      if (last?.ordinal !== step) return firstConversation
      return { resolvedAt: last.resolved_at.toISOString(), organizationId: last.organization_id, id: last.id }
    },

    /** Organizations with a due job, by id, after `after`: one index look-up for each organization. */
    async organizationsDue(now: number, after: string, limit: number): Promise<readonly string[]> {
      const { rows } = await pool.query<{ organization_id: string }>({
        name: 'find_summary_organizations',
        text: `select o.organization_id from organizations o
                 where o.organization_id > $2 and exists (select 1 from summary_jobs j
                   where j.organization_id = o.organization_id and j.due_at <= $1)
                 order by o.organization_id limit $3`,
        values: [formatTimestamp(now), after, limit],
      })
      return rows.map((row) => row.organization_id)
    },

    /** Claims the organization's job that has been due for longest, until a time. Skips what others are claiming. */
    async claim(organizationId: string, now: number, until: number): Promise<readonly SummaryJob[]> {
      const { rows } = await pool.query<ClaimedRow>({
        name: 'claim_summary_job',
        text: `update summary_jobs set due_at = $3, attempts = attempts + 1
                 where organization_id = $1 and conversation_id = (
                   select j.conversation_id from summary_jobs j where j.organization_id = $1 and j.due_at <= $2
                     order by j.due_at, j.conversation_id limit 1 for update skip locked)
                 returning conversation_id, resolved_at, attempts`,
        values: [organizationId, formatTimestamp(now), formatTimestamp(until)],
      })
      return rows.map((row) => ({
        organizationId,
        conversationId: row.conversation_id,
        resolvedAt: formatTimestamp(row.resolved_at.getTime()),
        attempts: row.attempts,
      }))
    },

    async drop({ organizationId, conversationId, resolvedAt, attempts }: SummaryJob): Promise<void> {
      await pool.query({
        name: 'drop_summary_job',
        text: `delete from summary_jobs where organization_id = $1 and conversation_id = $2
                 and resolved_at = $3 and attempts = $4`,
        values: [organizationId, conversationId, resolvedAt, attempts],
      })
    },

    /** Makes the job due then, as after so many attempts. */
    async postpone(
      { organizationId, conversationId, resolvedAt, attempts }: SummaryJob,
      due: number,
      attemptsMade = attempts,
    ): Promise<void> {
      await pool.query({
        name: 'postpone_summary_job',
        text: `update summary_jobs set due_at = $5, attempts = $6 where organization_id = $1 and conversation_id = $2
                 and resolved_at = $3 and attempts = $4`,
        values: [organizationId, conversationId, resolvedAt, attempts, formatTimestamp(due), attemptsMade],
      })
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

interface ClaimedRow {
  readonly conversation_id: string
  readonly resolved_at: Date
  readonly attempts: number
}

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

/** Replaces a job for an earlier resolution, whose worker can no longer end it. */
const addJobs = `
  insert into summary_jobs (organization_id, conversation_id, resolved_at, due_at, attempts)
    select $1, n.id, n.resolved_at, n.resolved_at, 0 from unnest($2::uuid[], $3::timestamptz[]) as n(id, resolved_at)
    on conflict (organization_id, conversation_id) do update
      set resolved_at = excluded.resolved_at, due_at = excluded.due_at, attempts = 0
      where summary_jobs.resolved_at <> excluded.resolved_at`
