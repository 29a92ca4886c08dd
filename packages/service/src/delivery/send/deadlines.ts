/** Deadlines of equal length; those begun within one slice share a timer. No clock is read, so setting the clock ends or extends none. */
import { deliveryTuning } from '../tuning.ts'

export interface Deadline {
  readonly passed: boolean
  onPass: (() => void) | null
}

interface Deadlines {
  begin(): Deadline
  /** To be called for every deadline that began; one that has ended never passes. */
  end(deadline: Deadline): void
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

  /** The time counts from here, so that a process that was suspended in between ends nothing early. */
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
