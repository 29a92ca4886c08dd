/**
 * Finds conversations whose delay is over, creates jobs for them, and runs a few at a time, in rotation between
 * organizations.
 */

import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { type Conversation, summaryLimit } from '../desk/conversation/fields.ts'
import { conversation } from '../desk/conversation/index.ts'
import type { ReferringExpectation } from '../journal/change.ts'
import type { RowReader, StoredRow } from '../journal/rows.ts'
import { problem } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { jobLoop } from '../kernel/job-loop.ts'
import { loggable } from '../kernel/log.ts'
import { atMost, periodic } from '../kernel/periodic.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Changes } from '../kinds/model/changes.ts'
import { parseRepresentation } from '../kinds/model/representation.ts'
import {
  type ClaimedJob,
  type ConversationPosition,
  checkAgainAfter,
  firstConversation,
  type Jobs,
  maxAttempts,
  nextAttempt,
} from './jobs.ts'
import {
  cutText,
  readMessages,
  type Summarize,
  type Summarized,
  summaryWithoutText,
  transcriptOf,
} from './transcript.ts'

interface SummaryEngineOptions extends AttemptServices {
  readonly delay: number
  /** Milliseconds that a worker may hold a job: longer than an attempt takes. */
  readonly lease: number
  /** The owner of its leases; a supervisor releases them by it when the worker dies. */
  readonly workerId: string
}

const atOnce = 4
const pollEvery = 1_000
/** Pages of conversations per search; later ones wait for the next. */
const pagesASearch = 5
const organizationsAQuery = 32
const beforeAll = firstConversation.organizationId
/** How long a stop waits for summaries, and then for the database; in all below the service's 15 s. */
const attemptsMayTake = 10_000
const settlingMayTake = 2_000

export type SummaryEngine = ReturnType<typeof createSummaryEngine>

export function createSummaryEngine(options: SummaryEngineOptions) {
  const { jobs, clock, log } = options
  const stopWithin = attemptsMayTake + settlingMayTake
  const cut = new AbortController()
  let position: ConversationPosition = firstConversation
  /** The organizations to serve next, and the last one served. */
  let organizations: readonly string[] = []
  let lastOrganization = beforeAll
  /** Milliseconds since the Unix epoch; until then the endpoint wants no requests. */
  let pausedUntil = 0
  const searching = periodic({
    every: pollEvery,
    stopWithin,
    async run() {
      try {
        await enqueue()
      } finally {
        summaries.wake()
      }
    },
    onFailure: (error) =>
      log.warn({ err: loggable(error) }, 'could not look for conversations without a summary; trying again'),
  })
  const summaries = jobLoop<ClaimedJob>({
    every: null,
    stopWithin,
    atOnce,
    // A summary locks nothing of its organization.
    atOnceOfOne: atOnce,
    busyPause: 0,
    findDue: claimNext,
    async run(job) {
      const pause = await attemptSummary(options, job, cut.signal)
      pausedUntil = Math.max(pausedUntil, clock.now() + pause)
      return 'done'
    },
    onFailure(error, job) {
      const err = loggable(error)
      if (job === null) return log.warn({ err }, 'could not claim summary jobs; trying again')
      const { organizationId, conversationId } = job
      // The lease expires, and the job is found again.
      log.warn({ organizationId, conversationId, err }, 'a summary failed')
    },
  })

  return {
    start: searching.start,
    wake: searching.wake,
    stop,
    /** Nothing is under way or about to begin. */
    get isIdle() {
      return searching.status === 'idle' && summaries.isIdle
    },
  }

  async function enqueue(): Promise<void> {
    // Not before the earliest time, however long the delay.
    const resolvedUntil = Math.max(clock.now() - options.delay, Date.parse(firstConversation.resolvedAt))
    for (let page = 0; page < pagesASearch; page++) {
      const next: ConversationPosition | null = await jobs.enqueue(resolvedUntil, position)
      position = next ?? firstConversation
      if (next === null) return
    }
  }

  /** Claims jobs of the next organizations; none when nothing is due. */
  async function claimNext(free: number): Promise<readonly ClaimedJob[]> {
    while (clock.now() >= pausedUntil) {
      if (organizations.length === 0) organizations = await nextOrganizations()
      const [organizationId, ...others] = organizations
      if (organizationId === undefined) return []
      const limit = Math.ceil(free / organizations.length)
      organizations = others
      lastOrganization = organizationId
      const now = clock.now()
      const lease = { id: newId(clock), workerId: options.workerId, until: now + options.lease }
      const claimed = await jobs.claim(organizationId, lease, now, limit)
      // Another worker may have claimed the due jobs.
      if (claimed.length > 0) return claimed
    }
    return []
  }

  /** The organizations after the last one, or from the first again. */
  async function nextOrganizations(): Promise<readonly string[]> {
    const now = clock.now()
    const next = await jobs.organizationsDue(now, lastOrganization, organizationsAQuery)
    return next.length > 0 ? next : jobs.organizationsDue(now, beforeAll, organizationsAQuery)
  }

  /**
   * Claims no more jobs, and waits 10 s for running ones, which are then released; then waits 2 s more for the
   * database.
   */
  async function stop(): Promise<void> {
    const ended = Promise.all([searching.stop(), summaries.stop()])
    await atMost(attemptsMayTake, ended)
    cut.abort()
    await atMost(settlingMayTake, ended)
  }
}

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
 * Reads, summarizes and writes with the action of an external AI, on the condition that the conversation still needs a
 * summary: each resolution gets one, however many workers try.
 * Completes the job, or releases it when `stop` aborts. Returns the milliseconds in which no summary may be requested,
 * as the endpoint asked. Rejects when the database fails; the job is found again after its lease.
 */
async function attemptSummary(
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
