/**
 * How late a thread's timers come, and the rate that follows. It is the one measure that knows of all that shares the processor,
 * whoever runs there: a sender that takes what others leave of a network goes by the delay of its packets in the same way.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How late timers of this thread come. */
export interface Lateness {
  /** In milliseconds, on average since it was asked or begun; null when there was nothing to measure. */
  read(): number | null
  begin(): void
  end(): void
}

/** What makes a rate slower and faster, and its limits. */
export interface RateTuning {
  readonly rateAtLeast: number
  readonly rateAtMost: number
  /** How late timers may come on average, in milliseconds. */
  readonly lateFrom: number
  /** What the rate is multiplied by where they come later, and where not. */
  readonly slower: number
  readonly faster: number
}

/** The rate that follows on this one, timers having been so late; within the limits. */
export function nextRate(rate: number, lateness: number | null, tuning: RateTuning): number {
  if (lateness === null) return rate
  const { lateFrom, slower, faster, rateAtLeast, rateAtMost } = tuning
  return Math.min(rateAtMost, Math.max(rateAtLeast, rate * (lateness > lateFrom ? slower : faster)))
}

/** Of this thread's event loop, by a timer that comes every so many milliseconds. */
export function eventLoopLateness(resolution: number): Lateness {
  const delays = monitorEventLoopDelay({ resolution })
  return {
    read() {
      const { count, mean } = delays
      delays.reset()
      return count === 0 ? null : mean / 1e6 - resolution
    },
    begin() {
      delays.reset()
      delays.enable()
    },
    end: () => void delays.disable(),
  }
}
