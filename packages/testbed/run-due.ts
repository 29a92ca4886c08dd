/**
 * Lets a scheduler of the service do what is due by the test's clock. It is woken, as by a notification, and not
 * started, so it does nothing by itself while a test moves the clock.
 */
import type { JobLoop } from '../service/src/kernel/job-loop.ts'
import { eventually } from './eventually.ts'

interface Scheduler {
  wake(): void
  readonly isIdle: boolean
}

export interface RunDue {
  /** Wakes the scheduler, waits until it is idle, and returns how much it did. */
  runDue(): Promise<number>
}

export async function runDue(scheduler: Scheduler): Promise<void> {
  scheduler.wake()
  await eventually('nothing is due or under way', () => scheduler.isIdle)
}

/** `done`: how much the scheduler has done so far. */
export function withRunDue<S extends Scheduler>(scheduler: S, done: () => number): S & RunDue {
  return Object.assign(scheduler, {
    async runDue() {
      const before = done()
      await runDue(scheduler)
      return done() - before
    },
  })
}

/** Each round has a loop of its own, which pauses no organization that was busy in an earlier round. */
export function inRounds(make: () => JobLoop, done: () => number): JobLoop & RunDue {
  return Object.assign(make(), { runDue: () => withRunDue(make(), done).runDue() })
}
