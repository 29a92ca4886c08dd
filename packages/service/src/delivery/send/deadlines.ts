/**
 * Deadlines of equal length; those begun within one slice share a timer. No clock is read, so setting the clock ends or
 * extends none.
 */
import { deliveryTuning } from '../tuning.ts'

export class Deadline {
  passed = false
  onPass: (() => void) | null = null
  readonly slice: Set<Deadline>

  constructor(slice: Set<Deadline>) {
    this.slice = slice
  }

  pass(): void {
    this.passed = true
    this.onPass?.()
  }
}

type Slice = Deadline['slice']

/** Deadlines `timeoutMs` after they begin: never early, and late by about `sliceMs` at most. */
export function createDeadlines(timeoutMs: number, sliceMs: number = deliveryTuning.sender.deadlineSlice) {
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
    begin(): Deadline {
      open ??= openSlice()
      const deadline = new Deadline(open)
      open.add(deadline)
      if (closed) deadline.pass()
      return deadline
    },
    /** To be called for every deadline that began; one that has ended never passes. */
    end(deadline: Deadline): void {
      deadline.slice.delete(deadline)
    },
    close(): void {
      closed = true
      open = null
      for (const [slice, timer] of timers) {
        clearTimeout(timer)
        sweep(slice)
      }
    },
  }
}
