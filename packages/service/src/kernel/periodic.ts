/**
 * The loop of whatever runs again and again: one run at a time, sooner when woken, and ended when it is time. Everything in
 * the service that looks, polls or sweeps is one of these.
 */
import { stopwatch } from './timestamps.ts'

/** `idle`: nothing is to come by itself. `waiting`: the next run has its time. `stopped`: for good. */
type PeriodicStatus = 'idle' | 'waiting' | 'running' | 'stopped'

export interface Periodic {
  /** Begins the first run now; from here on they come by themselves. */
  start(): void
  /** After the run under way none comes by itself any more, until it is started again. */
  pause(): void
  /** Runs now, or `apart` after the last; where a run is under way, once more right after it. Also before the start. */
  wake(): void
  /**
   * Begins no more runs, tells the one that is under way to end, and waits for it, for `stopWithin` at most: what hangs is left.
   * Never rejects.
   */
  stop(): Promise<void>
  readonly status: PeriodicStatus
}

/** Durations in milliseconds. */
export interface PeriodicOptions {
  /** From the end of a run to the next one; null when each is asked for. */
  readonly every: number | null
  /** The same after a run that failed; `every` unless told. */
  readonly everyAfterFailure?: number
  /** From the beginning of a run to the next one at least, however often it is woken; 0 unless told. */
  readonly apart?: number
  readonly stopWithin: number
  /** Ends soon after the signal, by rejecting or in any other way. What is done in one go answers nothing. */
  readonly run: (signal: AbortSignal) => Promise<void> | void
  /** The next run comes nevertheless. */
  readonly onFailure: (error: Error) => void
}

/** A loop that does nothing until it is started or woken. */
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
    if (early > 0) comeIn(early)
    else begin()
  }

  function comeIn(milliseconds: number): void {
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

  /** Answers when the next run is to come by itself. */
  async function runOnce(): Promise<number | null> {
    try {
      await run(stopping.signal)
      return every
    } catch (error) {
      // Told to end, it did.
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
    } else if (started && wait !== null) comeIn(wait)
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

/** Waits for what ends by itself, or leaves it after so many milliseconds. Rejects when it does before. */
export async function atMost(milliseconds: number, ending: Promise<unknown> | null): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const limit = setTimeout(resolve, milliseconds)
  await Promise.race([ending, over]).finally(() => clearTimeout(limit))
}
