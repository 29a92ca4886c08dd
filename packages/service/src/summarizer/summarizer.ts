/**
 * Writes the summaries of resolved conversations when their delay is over, a few at a time, in rotation between
 * organizations. Each is written with the action of an external AI, on the condition that the conversation still needs
 * it: so each resolution gets one, however many workers try.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { unshared } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { type Conversation, summaryLimit } from '../desk/conversation/fields.ts'
import { conversation } from '../desk/conversation/index.ts'
import { message } from '../desk/message/index.ts'
import { timestampText } from '../journal/body.ts'
import type { ReferringExpectation } from '../journal/change.ts'
import { createJournal } from '../journal/journal.ts'
import { createNotifier } from '../journal/notifier.ts'
import { createRowReader, type StoredRow } from '../journal/rows.ts'
import { problem } from '../kernel/errors.ts'
import { nilUuid } from '../kernel/ids.ts'
import { type JobLoop, jobLoop } from '../kernel/job-loop.ts'
import { loggable } from '../kernel/log.ts'
import { createKeyedQueue } from '../kernel/shared-work.ts'
import { type Clock, stopwatch } from '../kernel/timestamps.ts'
import { createChanges } from '../kinds/model/changes.ts'
import type { Kind } from '../kinds/model/kind.ts'
import { parseRepresentation, type StoredBody } from '../kinds/model/representation.ts'
import type { ChatEndpointSettings } from './chat-endpoint.ts'
import { createSummaryJobs, firstConversation, type SummaryJob } from './jobs.ts'
import { cutText } from './text.ts'
import type { SummaryWriter } from './writer.ts'

/** Durations in milliseconds. */
export interface SummarySettings {
  readonly delay: number
  /** The language model; null: extractive summaries. */
  readonly endpoint: ChatEndpointSettings | null
}

const atOnce = 4
const pollEvery = 1_000
/** How long a stop waits for summaries, which end soon after it begins. */
const stopWithin = 5_000
/** How much longer than a request a lease lasts: for reading and writing. */
const leaseBeyondRequest = 30_000
const minute = 60_000
const longestDelay = 240 * minute
/** The last attempt comes a day after the first. */
export const maxAttempts = 14
/** After the last attempt, a job stays until the conversation needs no summary. */
const checkAgainAfter = 24 * 60 * minute

/**
 * Milliseconds until the next attempt, null after the last: a minute, doubled each time, at most four hours, at least
 * `retryAfter`.
 */
export function nextAttempt(made: number, retryAfter: number | null): number | null {
  if (made >= maxAttempts) return null
  return Math.max(Math.min(minute * 2 ** (made - 1), longestDelay), retryAfter ?? 0)
}

const movedOn = problem('invalid_transition', 'The conversation no longer waits for this summary.')

/**
 * Does nothing until it is started or woken. Its commits must be durable, so the pool must not turn off
 * synchronous_commit.
 */
export function createSummarizer(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  readonly commitFunction: SchemaFunction
  readonly settings: SummarySettings
  readonly writer: SummaryWriter
  /** Of deliveries. */
  readonly maxAttempts: number
  /** Milliseconds that the clock may be ahead of the database's. Default: no limit. */
  readonly maxClockSkew?: number
}): JobLoop {
  const { settings, writer, kinds, ...journalParts } = options
  const { pool, clock, log } = journalParts
  const journal = createJournal({
    ...journalParts,
    tables: kinds.map((kind) => kind.table),
    notifier: createNotifier(pool, (error) =>
      log.warn({ err: loggable(error) }, 'workers and waiting readers could not be notified of a summary'),
    ),
  })
  const rows = createRowReader(unshared(pool), conversation.table)
  const changes = createChanges({
    kind: conversation,
    journal,
    rows: () => rows,
    clock,
    queue: createKeyedQueue(),
  })
  const jobs = createSummaryJobs(pool)
  const leaseLasts = (settings.endpoint?.timeout ?? 0) + leaseBeyondRequest
  let position = firstConversation
  let sinceSearch = () => Number.POSITIVE_INFINITY
  let lastOrganization = nilUuid
  /** Milliseconds since the Unix epoch; until then the endpoint wants no requests. */
  let pausedUntil = 0

  return jobLoop<SummaryJob>({
    every: pollEvery,
    stopWithin,
    atOnce,
    // A summary locks nothing of its organization.
    atOnceOfOne: atOnce,
    busyPause: 0,
    async findDue(limit) {
      // New conversations are found also while earlier ones fill all places.
      const searches = sinceSearch() >= pollEvery
      if (searches) await search()
      const claimed = await claim(limit)
      if (claimed.length > 0 || searches) return claimed
      await search()
      return claim(limit)
    },
    async run(job, signal) {
      await attempt(job, signal)
      return 'done'
    },
    onFailure(error, job) {
      const err = loggable(error)
      if (job === null) return log.warn({ err }, 'could not look for summaries to be written; trying again')
      const { organizationId, conversationId } = job
      // The lease expires, and the job is found again.
      log.warn({ organizationId, conversationId, err }, 'a summary failed')
    },
  })

  async function search(): Promise<void> {
    sinceSearch = stopwatch()
    // Not before the earliest time, however long the delay.
    const resolvedUntil = Math.max(clock.now() - settings.delay, Date.parse(firstConversation.resolvedAt))
    position = await jobs.enqueue(resolvedUntil, position)
  }

  /** Claims a job of each of the next organizations, and of the first ones after the last. */
  async function claim(limit: number): Promise<readonly SummaryJob[]> {
    const now = clock.now()
    if (now < pausedUntil) return []
    const next = await jobs.organizationsDue(now, lastOrganization, limit)
    const isLast = next.length === 0 && lastOrganization !== nilUuid
    const organizations = isLast ? await jobs.organizationsDue(now, nilUuid, limit) : next
    lastOrganization = organizations.at(-1) ?? nilUuid
    // Another worker may have claimed the due jobs.
    const claimed = await Promise.all(organizations.map((id) => jobs.claim(id, now, now + leaseLasts)))
    return claimed.flat()
  }

  /** Rejects when the database fails; the job is found again after its lease. */
  async function attempt(job: SummaryJob, signal: AbortSignal): Promise<void> {
    const { organizationId, conversationId, attempts } = job
    const row = await rows.read(organizationId, conversationId)
    if (row === null || !stillWaits(row, job)) return jobs.drop(job)
    // The last attempt ended with the worker, or before the check a day ago.
    if (attempts > maxAttempts)
      return giveUp(job, attempts === maxAttempts + 1 ? 'no attempt finished' : null)
    const { messages, abridged, unchanged } = await readMessages(pool, organizationId, conversationId)
    const subject = stateOf(row).subject
    const result = await writer.write({ messages, subject, abridged }, signal).catch((error: Error) => {
      if (signal.aborted) return null
      throw error
    })
    // As if it had not been claimed.
    if (result === null) return jobs.postpone(job, clock.now(), attempts - 1)
    if (result.outcome === 'failed') return fail(job, result.reason, result.retryAfter)
    return write(job, cutText(result.summary, summaryLimit), unchanged)
  }

  async function write(job: SummaryJob, summary: string, unchanged: ReferringExpectation): Promise<void> {
    const result = await changes.act(
      job.organizationId,
      job.conversationId,
      { action: 'summarize', body: { summary }, onlyIf: { referring: [unchanged] } },
      (row) => (stillWaits(row, job) ? null : movedOn),
      null,
    )
    if (result.outcome === 'refused' && result.error !== movedOn) return fail(job, result.error.code, null)
    return jobs.drop(job)
  }

  async function fail(job: SummaryJob, reason: string, retryAfter: number | null): Promise<void> {
    const { organizationId, conversationId, attempts } = job
    pausedUntil = Math.max(pausedUntil, clock.now() + (retryAfter ?? 0))
    const delay = nextAttempt(attempts, retryAfter)
    if (delay === null) return giveUp(job, reason)
    await jobs.postpone(job, clock.now() + delay)
    const about = { organizationId, conversationId, attempts, reason, again: delay }
    log.info(about, 'a summary could not be written; it will be tried again')
  }

  /** `reason` null: it gave up before. */
  async function giveUp(job: SummaryJob, reason: string | null): Promise<void> {
    const { organizationId, conversationId, attempts } = job
    await jobs.postpone(job, clock.now() + checkAgainAfter, maxAttempts + 1)
    if (reason === null) return
    log.warn(
      { organizationId, conversationId, attempts, reason },
      'the conversation has no summary: every attempt failed; write one with the action summarize, or reopen and resolve the conversation',
    )
  }
}

/** Whether it still has this resolution, and no summary. */
function stillWaits(row: StoredRow, { resolvedAt }: SummaryJob): boolean {
  const now = stateOf(row)
  return now.status === 'resolved' && now.resolvedAt === resolvedAt && now.summary === null
}

function stateOf(row: StoredRow): Conversation {
  return parseRepresentation(conversation, row).state as unknown as Conversation
}

/** Messages that are read: the first ones have the topic, the last ones the outcome. */
const firstRead = 20
const lastRead = 60

interface ReadMessages {
  readonly messages: readonly StoredBody[]
  /** Whether there are more. */
  readonly abridged: boolean
  /** What must still hold when a summary of them commits: it repeats no message that was deleted meanwhile. */
  readonly unchanged: ReferringExpectation
}

/** Reads first what a commit checks, so that whatever changes between the statements refuses the summary. */
async function readMessages(
  pool: Pool,
  organizationId: string,
  conversationId: string,
): Promise<ReadMessages> {
  const read = async (order: 'asc' | 'desc', limit: number) => {
    const { rows } = await pool.query<StoredBody & { id: string }>({
      name: `read_messages_${order}`,
      text: `select m.id, m.body, m.body_version as version from messages m
               where m.organization_id = $1 and m.conversation_id = $2 and m.removed_at is null
               order by m.created_at ${order}, m.id ${order} limit ${limit}`,
      values: [organizationId, conversationId],
    })
    return rows
  }
  const { rows } = await pool.query<{ count: number; latest: string | null }>({
    name: 'count_messages',
    text: `select count(*)::int as count, ${timestampText('max(m.updated_at)')} as latest from messages m
             where m.organization_id = $1 and m.conversation_id = $2 and m.removed_at is null`,
    values: [organizationId, conversationId],
  })
  const { count = 0, latest = null } = rows[0] ?? {}
  const [first, last] = await Promise.all([read('asc', firstRead), read('desc', lastRead)])
  const bodies = new Map([...first, ...last.toReversed()].map((row) => [row.id, row]))
  return {
    messages: [...bodies.values()],
    abridged: bodies.size < count,
    unchanged: { table: message.table, column: 'conversation_id', id: conversationId, count, latest },
  }
}
