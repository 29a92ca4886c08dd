/** What a worker counts of its deliveries. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { DeliveryObserver } from '../delivery/model.ts'

/** Seconds. An attempt is over after ten, unless set otherwise. */
const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]
/** Seconds: a healthy endpoint hears within milliseconds, and a worker that was down has hours to catch up. */
const waitBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15, 60, 300, 1_800, 7_200]

/** An observer that counts, and a gauge that reads `inFlight` when it is asked. */
export function createDeliveryMetrics(register: Registry, inFlight: () => number): DeliveryObserver {
  const registers = [register]
  const attempts = new Counter({
    name: 'deskwire_delivery_attempts_total',
    help: 'Attempts made, by outcome: succeeded, or the code of the delivery log',
    labelNames: ['outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'deskwire_delivery_attempt_duration_seconds',
    help: 'From resolving the name to the headers of the answer, or to the failure',
    labelNames: ['result'],
    buckets: attemptBuckets,
    registers,
  })
  const waits = new Histogram({
    name: 'deskwire_delivery_first_attempt_delay_seconds',
    help: 'From when a delivery was made, by a commit, a ping or a recovery, to its first attempt; from its retry, if none was made before',
    buckets: waitBuckets,
    registers,
  })
  const disabled = new Counter({
    name: 'deskwire_webhooks_disabled_total',
    help: 'Endpoints that the worker has disabled, by reason',
    labelNames: ['reason'],
    registers,
  })
  new Gauge({
    name: 'deskwire_delivery_attempts_in_flight',
    help: 'Attempts under way',
    registers,
    collect() {
      this.set(inFlight())
    },
  })
  // Each series is looked up once, and not thousands of times a second.
  const succeeded = durations.labels('succeeded')
  const failed = durations.labels('failed')
  const firsts = waits.labels({})
  const counts = new Map<string, ReturnType<typeof attempts.labels>>()
  return {
    attempted({ outcome, durationMs, waitedMs }) {
      const count = counts.get(outcome) ?? attempts.labels(outcome)
      counts.set(outcome, count)
      count.inc()
      const took = outcome === 'succeeded' ? succeeded : failed
      took.observe(durationMs / 1000)
      if (waitedMs !== null) firsts.observe(waitedMs / 1000)
    },
    disabled: (reason) => disabled.inc({ reason }),
  }
}
