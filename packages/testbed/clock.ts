import type { Clock } from '../service/src/kernel/timestamps.ts'

/** A time in milliseconds as representations show it. */
export const at = (milliseconds: number) => new Date(milliseconds).toISOString()

/** Stands still until it is moved, in either direction. */
export interface TestClock extends Clock {
  advance(milliseconds: number): void
  set(milliseconds: number): void
}

export function testClock(start = Date.parse('2026-03-01T12:00:00.000Z')): TestClock {
  let now = start
  return {
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds
    },
    set: (milliseconds) => {
      now = milliseconds
    },
  }
}
