/** What runs again and again: one run at a time, sooner when woken, and ended when it is time. */

export interface Periodic {
  /** Begins the first run now. */
  start(): void
  /** Runs now; where a run is under way, once more right after it. */
  wake(): void
  /**
   * Begins no more runs, tells the one that is under way to end, and waits for it, for `stopWithin` at most: what hangs is left.
   */
  stop(): Promise<void>
}

/** Durations in milliseconds. */
export function periodic(options: {
  /** From the end of a run to the next one. */
  readonly every: number
  readonly stopWithin: number
  /** Ends soon after the signal, by rejecting or in any other way. */
  readonly run: (signal: AbortSignal) => Promise<void>
  /** The next run comes nevertheless. */
  readonly onFailure: (error: Error) => void
}): Periodic {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> | null = null
  let again = false

  function wake(): void {
    if (stopping.signal.aborted) return
    clearTimeout(timer)
    again = underWay !== null
    underWay ??= runOnce().then(scheduleNext)
  }

  async function runOnce(): Promise<void> {
    try {
      await options.run(stopping.signal)
    } catch (error) {
      // Told to end, it did.
      if (!stopping.signal.aborted) options.onFailure(error as Error)
    }
  }

  function scheduleNext(): void {
    underWay = null
    if (again) wake()
    else if (!stopping.signal.aborted) timer = setTimeout(wake, options.every).unref()
  }

  return {
    start: wake,
    wake,
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await atMost(options.stopWithin, underWay)
    },
  }
}

/** Waits for what ends by itself, or leaves it after so many milliseconds. Rejects when it does before. */
export async function atMost(milliseconds: number, ending: Promise<unknown> | null): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const limit = setTimeout(resolve, milliseconds)
  await Promise.race([ending, over]).finally(() => clearTimeout(limit))
}
