/**
 * The loop of background jobs: looks for jobs that are due, and does a few at once, of different organizations. A table says what is due, and a
 * lease or a lock says who does it; so a job that fails, or whose process dies, is found again.
 */
import { atMost, periodic } from './periodic.ts'
import { stopwatch } from './timestamps.ts'

/** What a job, or the part of it that was done, came to. 'busy': nothing was done, as others hold what it needs. */
export type JobOutcome = 'done' | 'busy'

export interface JobLoop {
  /** Looks again and again until stopped. */
  start(): void
  /** Looks at once. */
  wake(): void
  /** Begins no more jobs, and waits for those under way. */
  stop(): Promise<void>
  /** Does all that is due by the clock, and returns how many jobs that took. For tests, and commands that wait for the end. */
  runDue(): Promise<number>
}

/** Durations in milliseconds. */
export interface JobLoopOptions<Job extends { readonly organizationId: string }> {
  /** How often to look without being woken; null: only when woken. */
  readonly every: number | null
  /** A stop waits no longer for jobs under way; they end with their connections. */
  readonly stopWithin: number
  readonly atOnce: number
  /** Jobs of one organization at once. Default: 1, as they would wait for the same locks. */
  readonly atOnceOfOne?: number
  /** How long to leave an organization alone after a job that was busy or failed. */
  readonly busyPause: number
  /** Up to `limit` jobs that are due, the longest due first, of none of the organizations `except`. */
  findDue(limit: number, except: readonly string[]): Promise<readonly Job[]>
  /** Does a job, or as much of it as others may wait for; what is left is due again. Ends soon after the signal, which a stop aborts. */
  run(job: Job, signal: AbortSignal): Promise<JobOutcome>
  /** A job failed; without one, looking did. */
  onFailure(error: Error, job: Job | null): void
}

export function jobLoop<Job extends { readonly organizationId: string }>(
  options: JobLoopOptions<Job>,
): JobLoop {
  const { every, stopWithin, atOnce, atOnceOfOne = 1, busyPause, findDue, run, onFailure } = options
  const stopping = new AbortController()
  const running = new Set<Promise<JobOutcome>>()
  /** How many jobs of an organization are running. */
  const runningOf = new Map<string, number>()
  /** Organizations to leave alone, and since when. */
  const paused = new Map<string, () => number>()
  const looking = periodic({ every, stopWithin, run: look, onFailure: (error) => onFailure(error, null) })

  return { start: looking.start, wake: looking.wake, stop, runDue }

  async function look(): Promise<void> {
    for (const [organizationId, since] of paused) if (since() >= busyPause) paused.delete(organizationId)
    for (let begun = 1; begun > 0 && running.size < atOnce; ) {
      const due = await findDue(atOnce - running.size, leftAlone())
      if (stopping.signal.aborted) return
      begun = due.filter(launch).length
    }
  }

  function leftAlone(): readonly string[] {
    const full = [...runningOf].filter(([, jobs]) => jobs >= atOnceOfOne)
    return [...full.map(([organizationId]) => organizationId), ...paused.keys()]
  }

  /** Whether the job was begun. */
  function launch(job: Job): boolean {
    const { organizationId } = job
    if ((runningOf.get(organizationId) ?? 0) >= atOnceOfOne || paused.has(organizationId)) return false
    void begin(job).then((came) => {
      if (came === 'busy' && busyPause > 0) paused.set(organizationId, stopwatch())
      looking.wake()
    })
    return true
  }

  async function begin(job: Job): Promise<JobOutcome> {
    const { organizationId } = job
    runningOf.set(organizationId, (runningOf.get(organizationId) ?? 0) + 1)
    const came = run(job, stopping.signal).catch((error: Error): JobOutcome => {
      onFailure(error, job)
      return 'busy'
    })
    running.add(came)
    await came
    running.delete(came)
    const left = (runningOf.get(organizationId) ?? 1) - 1
    if (left > 0) runningOf.set(organizationId, left)
    else runningOf.delete(organizationId)
    return came
  }

  async function stop(): Promise<void> {
    stopping.abort()
    const looked = looking.stop()
    await atMost(
      stopWithin,
      looked.then(() => Promise.all(running)),
    )
  }

  async function runDue(): Promise<number> {
    const busy = new Set<string>()
    for (let ran = 0; ; ) {
      const due = (await findDue(atOnce, [...busy])).filter(({ organizationId }) => !busy.has(organizationId))
      if (due.length === 0 || stopping.signal.aborted) return ran
      const came = await Promise.all(due.map(begin))
      due.forEach(({ organizationId }, n) => {
        if (came[n] === 'busy') busy.add(organizationId)
        else ran++
      })
    }
  }
}
