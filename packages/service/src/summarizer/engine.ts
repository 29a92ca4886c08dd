/**
 * The engine: looks for conversations whose delay is over, makes jobs of them, and works on a few at a time, one
 * organization after another, so that one with a million to do keeps nobody else waiting for more than its turn.
 */
import { newId } from '../kernel/ids.ts'
import { jobLoop } from '../kernel/job-loop.ts'
import { loggable } from '../kernel/loggable.ts'
import { atMost, periodic } from '../kernel/periodic.ts'
import { type AttemptServices, attemptSummary } from './attempt.ts'
import { type ClaimedJob, type ConversationPosition, firstConversation } from './jobs.ts'

export interface SummaryEngine {
  /** Looks again and again until stopped. */
  start(): void
  /**
   * Takes no more, and waits for what is under way: for 10 s, after which it is given back; and for 2 s more, after
   * which a database that does not answer is left.
   */
  stop(): Promise<void>
  /** Does all that is due by the clock, and answers how many jobs that were. For tests and drains. */
  runDue(): Promise<number>
}

interface SummaryEngineOptions extends AttemptServices {
  /** From resolution to summary, in milliseconds. */
  readonly delay: number
  /** How long a worker may have a job, in milliseconds: longer than an attempt takes. */
  readonly lease: number
  /** The owner of its leases: whoever learns of the worker's death gives them back by it. */
  readonly workerId: string
}

/** Summaries under way at once in a worker. */
const atOnce = 4
/** How often to look, in milliseconds. A minute's delay does not need it; a short one is to be believed. */
const pollEvery = 1_000
/** Pages of conversations looked at each time. What waits beyond them is looked at the next time. */
const pagesALook = 5
/** Organizations found at once. */
const organizationsALook = 32
const beforeAll = firstConversation.organizationId
/** How long a stop waits for summaries, and then for the database; together below the service's 15 s. */
const attemptsMayTake = 10_000
const settlingMayTake = 2_000

export function createSummaryEngine(options: SummaryEngineOptions): SummaryEngine {
  const { jobs, clock, log } = options
  const stopWithin = attemptsMayTake + settlingMayTake
  const cut = new AbortController()
  let position: ConversationPosition = firstConversation
  /** The organizations whose turn is next, and the last one that had it. */
  let turns: readonly string[] = []
  let lastTurn = beforeAll
  /** Milliseconds since the Unix epoch; until then the endpoint wants to hear nothing. */
  let pausedUntil = 0
  /** Makes jobs of what has become due, and has them begun. */
  const searching = periodic({
    every: pollEvery,
    stopWithin,
    async run() {
      try {
        await enqueue()
      } finally {
        // Also what others made jobs of.
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
    // A summary holds no lock of its organization.
    atOnceOfOne: atOnce,
    busyPause: 0,
    findDue: claimNext,
    async run(job) {
      const { pause } = await attemptSummary(options, job, cut.signal)
      pausedUntil = Math.max(pausedUntil, clock.now() + pause)
      return 'done'
    },
    onFailure(error, job) {
      const err = loggable(error)
      if (job === null) return log.warn({ err }, 'could not claim summary jobs; trying again')
      const { organizationId, conversationId } = job
      // The lease runs out and the job is found again.
      log.warn({ organizationId, conversationId, err }, 'a summary failed')
    },
  })

  return { start: searching.start, stop, runDue }

  /** Walks on over what has no summary; from its end, the next time, to its beginning. */
  async function enqueue(): Promise<void> {
    // No time is earlier than the first one, however long the delay.
    const resolvedUntil = Math.max(clock.now() - options.delay, Date.parse(firstConversation.resolvedAt))
    for (let page = 0; page < pagesALook; page++) {
      const next: ConversationPosition | null = await jobs.enqueue(resolvedUntil, position)
      position = next ?? firstConversation
      if (next === null) return
    }
  }

  /** Claims jobs of the organizations whose turn it is; none when nothing is due anywhere. */
  async function claimNext(free: number): Promise<readonly ClaimedJob[]> {
    while (clock.now() >= pausedUntil) {
      if (turns.length === 0) turns = await findTurns()
      const [organizationId, ...others] = turns
      if (organizationId === undefined) return []
      const limit = Math.ceil(free / turns.length)
      turns = others
      lastTurn = organizationId
      const now = clock.now()
      const lease = { id: newId(clock), workerId: options.workerId, until: now + options.lease }
      const claimed = await jobs.claim(organizationId, lease, now, limit)
      // Another worker may have taken what was due.
      if (claimed.length > 0) return claimed
    }
    return []
  }

  /** Those after the last one, or from the first one again. */
  async function findTurns(): Promise<readonly string[]> {
    const now = clock.now()
    const next = await jobs.organizationsDue(now, lastTurn, organizationsALook)
    return next.length > 0 ? next : jobs.organizationsDue(now, beforeAll, organizationsALook)
  }

  async function stop(): Promise<void> {
    const ended = Promise.all([searching.stop(), summaries.stop()])
    await atMost(attemptsMayTake, ended)
    cut.abort()
    await atMost(settlingMayTake, ended)
  }

  async function runDue(): Promise<number> {
    for (let done = 0; ; ) {
      await enqueue()
      const ran = await summaries.runDue()
      if (ran === 0) return done
      done += ran
    }
  }
}
