/** Runs a function repeatedly: one run at a time, earlier when woken, until stopped. */
import { stopwatch } from './timestamps.ts'

/** `idle`: no next run is scheduled. `waiting`: one is. */
type PeriodicStatus = 'idle' | 'waiting' | 'running' | 'stopped'

export interface Periodic {
  /** Starts the first run now, and schedules the next after each. */
  start(): void
  /** Schedules no run after the current one, until started again. */
  pause(): void
  /** Runs now, or `apart` after the last start; during a run, once more after it. Works before the start too. */
  wake(): void
  /** Starts no more runs, aborts the current one, and waits at most `stopWithin` for it. Never rejects. */
  stop(): Promise<void>
  readonly status: PeriodicStatus
}

/** Durations in milliseconds. */
export interface PeriodicOptions {
  /** From the end of a run to the next; null: runs only when woken. */
  readonly every: number | null
  /** After a failed run. Default: `every`. */
  readonly everyAfterFailure?: number
  /** Minimum time between the starts of two runs. Default: 0. */
  readonly apart?: number
  readonly stopWithin: number
  /** Must settle soon after the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void> | void
  /** The next run is scheduled all the same. */
  readonly onFailure: (error: Error) => void
}

export function periodic(options: PeriodicOptions): Periodic {
  const { every, everyAfterFailure = every, apart = 0, stopWithin, run, onFailure } = options
  const stopping = new AbortController()
  let started = false
  let timer: NodeJS.Timeout | null = null
  let underWay: Promise<void> | null = null
  let again = false
  let sinceBegun = () => Number.POSITIVE_INFINITY

  function wake(): void {
    if (stopping.signal.aborted) return
    if (underWay !== null) {
      again = true
      return
    }
    const early = apart === 0 ? 0 : apart - sinceBegun()
    if (early > 0) runIn(early)
    else begin()
  }

  function runIn(milliseconds: number): void {
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(begin, milliseconds).unref()
  }

  function cancel(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
  }

  function begin(): void {
    cancel()
    if (apart > 0) sinceBegun = stopwatch()
    underWay = runOnce().then(scheduleNext)
  }

  /** Returns the milliseconds until the next run; null: none. */
  async function runOnce(): Promise<number | null> {
    try {
      await run(stopping.signal)
      return every
    } catch (error) {
      // Rejections after a stop are expected.
      if (!stopping.signal.aborted) onFailure(error as Error)
      return everyAfterFailure
    }
  }

  function scheduleNext(wait: number | null): void {
    underWay = null
    if (stopping.signal.aborted) return
    if (again) {
      again = false
      wake()
    } else if (started && wait !== null) runIn(wait)
  }

  return {
    start() {
      started = true
      wake()
    },
    pause() {
      started = false
      cancel()
    },
    wake,
    async stop() {
      stopping.abort()
      cancel()
      await atMost(stopWithin, underWay)
    },
    get status() {
      if (stopping.signal.aborted) return 'stopped'
      if (underWay !== null) return 'running'
      return timer === null ? 'idle' : 'waiting'
    },
  }
}

/** Waits at most this long for `ending`; returns whether it ended. Rejects if it rejects within that time. */
export async function atMost(milliseconds: number, ending: Promise<unknown> | null): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<boolean>()
  const limit = setTimeout(resolve, milliseconds, false)
  const ended = Promise.resolve(ending).then(() => true)
  return Promise.race([ended, over]).finally(() => clearTimeout(limit))
}
