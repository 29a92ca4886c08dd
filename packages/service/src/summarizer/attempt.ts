/**
 * One attempt at one summary: read, summarize, write. The write uses the same action as an external AI, on the condition that the
 * conversation still needs a summary. So each resolution gets one summary, however many workers try.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { type Conversation, summaryLimit } from '../desk/conversation/fields.ts'
import { conversation } from '../desk/conversation/index.ts'
import type { ReferringExpectation } from '../journal/change.ts'
import type { RowReader, StoredRow } from '../journal/rows.ts'
import { problem } from '../kernel/errors.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Changes } from '../kinds/model/changes.ts'
import { parseRepresentation } from '../kinds/model/representation.ts'
import { type ClaimedJob, checkAgainAfter, type Jobs, maxAttempts, nextAttempt } from './jobs.ts'
import { cutText } from './plain-text.ts'
import {
  readMessages,
  type Summarize,
  type Summarized,
  summaryWithoutText,
  transcriptOf,
} from './transcript.ts'

export interface AttemptServices {
  readonly pool: Pool
  readonly jobs: Jobs
  readonly rows: RowReader
  readonly changes: Changes
  readonly summarize: Summarize
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

interface Written {
  readonly outcome: 'written'
  readonly summary: string
  readonly unchanged: ReferringExpectation
}

const movedOn = problem('invalid_transition', 'The conversation no longer waits for this summary.')

/**
 * Completes the job, or releases it when `stop` aborts. Returns the milliseconds in which no summary may be requested, as the endpoint asked.
 * Rejects when the database fails; the job is found again after its lease.
 */
export async function attemptSummary(
  services: AttemptServices,
  job: ClaimedJob,
  stop: AbortSignal,
): Promise<number> {
  const { jobs, rows, clock } = services
  const row = await rows.read(job.organizationId, job.conversationId)
  if (row === null || !stillWaits(row, job)) {
    await jobs.drop(job)
    return 0
  }
  if (job.gaveUp) {
    await jobs.postpone(job, clock.now() + checkAgainAfter, true)
    return 0
  }
  const result = await summaryOf(services, job, row, stop)
  if (result === null) {
    await jobs.release(job, clock.now())
    return 0
  }
  if (result.outcome === 'failed') return fail(services, job, result.reason, result.retryAfter)
  return write(services, job, result)
}

/** Whether it still has this resolution, and no summary. */
function stillWaits(row: StoredRow, { resolvedAt }: ClaimedJob): boolean {
  const now = stateOf(row)
  return now.status === 'resolved' && now.resolvedAt === resolvedAt && now.summary === null
}

function stateOf(row: StoredRow): Conversation {
  return parseRepresentation(conversation, row).state as unknown as Conversation
}

async function summaryOf(
  { pool, summarize }: AttemptServices,
  { organizationId, conversationId, attempts }: ClaimedJob,
  row: StoredRow,
  stop: AbortSignal,
): Promise<Exclude<Summarized, { outcome: 'written' }> | Written | null> {
  // Only a process that died during an attempt leaves more than the maximum.
  if (attempts > maxAttempts) return { outcome: 'failed', reason: 'no attempt finished', retryAfter: null }
  const { messages, abridged, unchanged } = await readMessages(pool, organizationId, conversationId)
  const transcript = transcriptOf(stateOf(row).subject, messages, abridged)
  const written = (summary: string): Written => ({ outcome: 'written', summary, unchanged })
  if (transcript.messages.length === 0) return written(summaryWithoutText(transcript))
  try {
    const result = await summarize(transcript, stop)
    return result.outcome === 'written' ? written(result.summary) : result
  } catch (error) {
    if (stop.aborted) return null
    throw error
  }
}

async function write(
  services: AttemptServices,
  job: ClaimedJob,
  { summary, unchanged }: Written,
): Promise<number> {
  const { jobs, changes } = services
  const result = await changes.act(
    job.organizationId,
    job.conversationId,
    {
      action: 'summarize',
      body: { summary: cutText(summary, summaryLimit) },
      onlyIf: { referring: [unchanged] },
    },
    (row) => (stillWaits(row, job) ? null : movedOn),
    null,
  )
  if (result.outcome === 'refused' && result.error !== movedOn) {
    return fail(services, job, result.error.code, null)
  }
  await jobs.drop(job)
  return 0
}

async function fail(
  { jobs, clock, log }: AttemptServices,
  job: ClaimedJob,
  reason: string,
  retryAfter: number | null,
): Promise<number> {
  const { organizationId, conversationId, attempts } = job
  const delay = nextAttempt(attempts, retryAfter)
  const about = { organizationId, conversationId, attempts, reason }
  if (delay === null) {
    await jobs.postpone(job, clock.now() + checkAgainAfter, true)
    log.warn(
      about,
      'the conversation has no summary: every attempt failed; write one with the action summarize, or reopen and resolve the conversation',
    )
  } else {
    await jobs.postpone(job, clock.now() + delay, false)
    log.info({ ...about, again: delay }, 'a summary could not be written; it will be tried again')
  }
  return retryAfter ?? 0
}
