/** Finds conversations whose delay is over, creates jobs for them, and runs a few at a time, in rotation between organizations. */
import { newId } from '../kernel/ids.ts'
import { jobLoop } from '../kernel/job-loop.ts'
import { loggable } from '../kernel/loggable.ts'
import { atMost, periodic } from '../kernel/periodic.ts'
import { type AttemptServices, attemptSummary } from './attempt.ts'
import { type ClaimedJob, type ConversationPosition, firstConversation } from './jobs.ts'

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

  return { start: searching.start, stop, runDue }

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

  /** Claims no more jobs, and waits 10 s for running ones, which are then released; then waits 2 s more for the database. */
  async function stop(): Promise<void> {
    const ended = Promise.all([searching.stop(), summaries.stop()])
    await atMost(attemptsMayTake, ended)
    cut.abort()
    await atMost(settlingMayTake, ended)
  }

  /** Runs all jobs that are due by the clock, and returns their number. For tests and drains. */
  async function runDue(): Promise<number> {
    for (let done = 0; ; ) {
      await enqueue()
      const ran = await summaries.runDue()
      if (ran === 0) return done
      done += ran
    }
  }
}
