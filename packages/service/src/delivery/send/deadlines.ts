/**
 * Deadlines that are all equally long, swept together: those begun within one slice of time share a timer.
 * A timer each costs little, but an `AbortSignal.timeout` each took a fifth of all sending.
 *
 * No clock is read, so none that is set forwards or back can end or stretch an attempt.
 */
import { deliveryTuning } from '../tuning.ts'

/** One attempt's limit. */
export interface Deadline {
  /** Whether the time is up. */
  readonly passed: boolean
  /** Called once, when the time is up; whoever waits puts here what ends its waiting. */
  onPass: (() => void) | null
}

interface Deadlines {
  begin(): Deadline
  /** To be called for every deadline that began; one that has ended never passes. */
  end(deadline: Deadline): void
  /** Lets every deadline pass now, and each that begins later at once. */
  close(): void
}

type Slice = Set<SweptDeadline>

class SweptDeadline implements Deadline {
  passed = false
  onPass: (() => void) | null = null
  readonly slice: Slice

  constructor(slice: Slice) {
    this.slice = slice
  }

  pass(): void {
    this.passed = true
    this.onPass?.()
  }
}

/** Deadlines `timeoutMs` after they begin: never early, and late by about `sliceMs` at most. */
export function createDeadlines(
  timeoutMs: number,
  sliceMs: number = deliveryTuning.sender.deadlineSlice,
): Deadlines {
  const timers = new Map<Slice, NodeJS.Timeout>()
  let open: Slice | null = null
  let closed = false

  function openSlice(): Slice {
    const slice: Slice = new Set()
    timers.set(slice, setTimeout(shut, sliceMs, slice).unref())
    return slice
  }

  /** The time counts from here, so that a process that stood still in between ends nothing early. */
  function shut(slice: Slice): void {
    open = null
    timers.set(slice, setTimeout(sweep, timeoutMs, slice).unref())
  }

  function sweep(slice: Slice): void {
    timers.delete(slice)
    for (const deadline of slice) deadline.pass()
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
      open = null
      for (const [slice, timer] of timers) {
        clearTimeout(timer)
        sweep(slice)
      }
    },
  }
}
