import type { Registry } from 'prom-client'
import type { DeliveryObserver } from '../delivery/model.ts'
import { counter, gauge, histogram } from './instruments.ts'

export function showInFlight(register: Registry, inFlight: () => number): void {
  gauge(register, 'deskwire_delivery_attempts_in_flight', (it) => it.set(inFlight()))
}

export function createDeliveryMetrics(register: Registry): DeliveryObserver {
  const attempts = counter(register, 'deskwire_delivery_attempts_total')
  const durations = histogram(register, 'deskwire_delivery_attempt_duration_seconds')
  const waits = histogram(register, 'deskwire_delivery_first_attempt_delay_seconds')
  const disabled = counter(register, 'deskwire_webhooks_disabled_total')
  // Each series is looked up once instead of for every delivery.
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
