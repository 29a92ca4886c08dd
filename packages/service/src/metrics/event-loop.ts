/** Measures how long the event loop was blocked; meanwhile nothing else is served. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import { stopwatch } from '../kernel/timestamps.ts'
import { gauge } from './instruments.ts'

/** Sampling interval, in milliseconds, which the measurement includes. */
const resolution = 10
/** Milliseconds for which a delay is remembered at least. */
const period = 60_000

type Delays = Pick<ReturnType<typeof monitorEventLoopDelay>, 'max' | 'percentile' | 'reset'>

/** The delays of the last one to two minutes, or since the last read. `elapsed` is its clock. */
export class DelayWatch {
  readonly #delays: Delays
  readonly #elapsed: () => number
  #began = 0
  #before = { p99: 0, max: 0 }

  constructor(delays: Delays, elapsed: () => number) {
    this.#delays = delays
    this.#elapsed = elapsed
  }

  /** Seconds: the 99th percentile and the maximum. */
  read(): { readonly p99: number; readonly max: number } {
    const now = { p99: seconds(this.#delays.percentile(99)), max: seconds(this.#delays.max) }
    const read = { p99: Math.max(now.p99, this.#before.p99), max: Math.max(now.max, this.#before.max) }
    if (this.#elapsed() - this.#began >= period) {
      this.#before = now
      this.#delays.reset()
      this.#began = this.#elapsed()
    }
    return read
  }
}

function seconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - resolution / 1_000)
}

export function watchEventLoop(register: Registry): void {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  const watch = new DelayWatch(delays, stopwatch())
  gauge(register, 'deskwire_event_loop_delay_p99_seconds', (it) => it.set(watch.read().p99))
  gauge(register, 'deskwire_event_loop_delay_max_seconds', (it) => it.set(watch.read().max))
  let before = performance.eventLoopUtilization()
  gauge(register, 'deskwire_event_loop_utilization', (it) => {
    const now = performance.eventLoopUtilization()
    it.set(performance.eventLoopUtilization(now, before).utilization)
    before = now
  })
}
