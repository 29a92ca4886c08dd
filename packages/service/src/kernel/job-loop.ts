/**
 * Finds due jobs and runs a few at once, of different organizations. The due time is in a table, and a lease or lock
 * decides which worker runs the job, so a job that failed or lost its process is found again.
 */
import { atMost, periodic } from './periodic.ts'
import { stopwatch } from './timestamps.ts'

/** 'busy': another process holds what the job needs, so nothing was done. */
export type JobOutcome = 'done' | 'busy'

export interface JobLoop {
  start(): void
  wake(): void
  /** Starts no more jobs, and waits for running ones. */
  stop(): Promise<void>
  /** Nothing is under way or about to begin. */
  readonly isIdle: boolean
}

/** Durations in milliseconds. */
export interface JobLoopOptions<Job extends { readonly organizationId: string }> {
  /** How often to search without being woken; null: only when woken. */
  readonly every: number | null
  /** How long a stop waits for running jobs; after that they end with their connections. */
  readonly stopWithin: number
  readonly atOnce: number
  /** Default: 1, because jobs of one organization wait for the same locks. */
  readonly atOnceOfOne?: number
  /** How long to pause an organization after a job that was busy or failed. */
  readonly busyPause: number
  /** Up to `limit` due jobs, longest due first, except those of the organizations `except`. */
  findDue(limit: number, except: readonly string[]): Promise<readonly Job[]>
  /** Runs a job, or a short part of it; the remainder stays due. Ends soon after the signal, which a stop aborts. */
  run(job: Job, signal: AbortSignal): Promise<JobOutcome>
  /** Null: the search failed. */
  onFailure(error: Error, job: Job | null): void
}

export function jobLoop<Job extends { readonly organizationId: string }>(
  options: JobLoopOptions<Job>,
): JobLoop {
  const { every, stopWithin, atOnce, atOnceOfOne = 1, busyPause, findDue, run, onFailure } = options
  const stopping = new AbortController()
  const running = new Set<Promise<JobOutcome>>()
  const runningOf = new Map<string, number>()
  /** With the time since the pause began. */
  const paused = new Map<string, () => number>()
  const search = periodic({
    every,
    stopWithin,
    run: searchAndLaunch,
    onFailure: (error) => onFailure(error, null),
  })

  return {
    start: search.start,
    wake: search.wake,
    stop,
    get isIdle() {
      return search.status === 'idle' && running.size === 0
    },
  }

  async function searchAndLaunch(): Promise<void> {
    for (const [organizationId, since] of paused) if (since() >= busyPause) paused.delete(organizationId)
    for (let begun = 1; begun > 0 && running.size < atOnce; ) {
      const due = await findDue(atOnce - running.size, excluded())
      if (stopping.signal.aborted) return
      begun = due.filter(launch).length
    }
  }

  function excluded(): readonly string[] {
    const full = [...runningOf].filter(([, jobs]) => jobs >= atOnceOfOne)
    return [...full.map(([organizationId]) => organizationId), ...paused.keys()]
  }

  function launch(job: Job): boolean {
    const { organizationId } = job
    if ((runningOf.get(organizationId) ?? 0) >= atOnceOfOne || paused.has(organizationId)) return false
    void begin(job).then((outcome) => {
      if (outcome === 'busy' && busyPause > 0) paused.set(organizationId, stopwatch())
      search.wake()
    })
    return true
  }

  async function begin(job: Job): Promise<JobOutcome> {
    const { organizationId } = job
    runningOf.set(organizationId, (runningOf.get(organizationId) ?? 0) + 1)
    const outcome = run(job, stopping.signal).catch((error: Error): JobOutcome => {
      onFailure(error, job)
      return 'busy'
    })
    running.add(outcome)
    await outcome
    running.delete(outcome)
    const left = (runningOf.get(organizationId) ?? 1) - 1
    if (left > 0) runningOf.set(organizationId, left)
    else runningOf.delete(organizationId)
    return outcome
  }

  async function stop(): Promise<void> {
    stopping.abort()
    const stopped = search.stop()
    await atMost(
      stopWithin,
      stopped.then(() => Promise.all(running)),
    )
  }
}
