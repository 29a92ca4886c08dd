/**
 * Deadlines that are all equally long, swept together: those begun within one slice of time share a timer.
 * A timer each costs little, but an `AbortSignal.timeout` each took a fifth of all sending.
 *
 * No clock is read, so none that is set forwards or back can end or stretch an attempt.
 */

/** One attempt's limit. */
export interface Deadline {
  /** Whether the time is up. */
  readonly passed: boolean
  /** Called once, when the time is up; whoever waits puts here what ends its waiting. */
  onPass: (() => void) | null
}

export interface Deadlines {
  begin(): Deadline
  /** To be called for every deadline that began; one that has ended never passes. */
  end(deadline: Deadline): void
  /** Lets every deadline pass now, and each that begins later at once. */
  close(): void
}

class SweptDeadline implements Deadline {
  passed = false
  onPass: (() => void) | null = null
  readonly slice: Set<SweptDeadline>

  constructor(slice: Set<SweptDeadline>) {
    this.slice = slice
  }

  pass(): void {
    this.passed = true
    this.onPass?.()
  }
}

/** Deadlines `timeoutMs` after they begin, late by at most `sliceMs`. */
export function createDeadlines(timeoutMs: number, sliceMs = 20): Deadlines {
  const timers = new Map<Set<SweptDeadline>, NodeJS.Timeout>()
  let open: Set<SweptDeadline> | null = null
  let closed = false

  function sweep(slice: Set<SweptDeadline>): void {
    timers.delete(slice)
    for (const deadline of slice) deadline.pass()
  }

  function openSlice(): Set<SweptDeadline> {
    const slice = new Set<SweptDeadline>()
    timers.set(slice, setTimeout(sweep, timeoutMs + sliceMs, slice).unref())
    setTimeout(() => {
      if (open === slice) open = null
    }, sliceMs).unref()
    return slice
  }

  return {
    begin() {
      open ??= openSlice()
      const deadline = new SweptDeadline(open)
      open.add(deadline)
      if (closed) deadline.pass()
      return deadline
    },
    end(deadline) {
      const { slice } = deadline as SweptDeadline
      slice.delete(deadline as SweptDeadline)
    },
    close() {
      closed = true
      for (const [slice, timer] of timers) {
        clearTimeout(timer)
        sweep(slice)
      }
      open = null
    },
  }
}
