/** Traces attempts: a span for each, in the trace of the change that caused the event, and metrics. */
import type { Attributes, Span, Telemetry } from '../../kernel/telemetry.ts'
import type { AttemptResult, Claim, ClaimedDelivery, DeliveryObserver } from '../model.ts'

export interface TracedAttempt {
  /** Headers for the receiver: `traceparent`, or none. */
  readonly headers: Readonly<Record<string, string>>
  within<T>(work: () => T): T
  ended(result: AttemptResult): void
}

export type TraceAttempt = (claim: Claim, delivery: ClaimedDelivery) => TracedAttempt

/** OpenTelemetry's conventions for messaging. */
const messaging = {
  'messaging.system': 'deskwire',
  'messaging.operation.name': 'deliver',
  'messaging.operation.type': 'send',
}

/** Without a trace of the event, each attempt begins a trace of its own. */
export function traceAttempts({ tracer, sendsTraceparent }: Telemetry): TraceAttempt {
  return (claim, { id, attemptCount, event }) => {
    const span: Span = tracer.begin(`deliver ${event.type}`, {
      kind: 'client',
      parent: event.traceContext ?? null,
      attributes: {
        ...messaging,
        ...addressOf(claim.endpoint.url),
        'messaging.message.id': event.id,
        'http.request.method': 'POST',
        'deskwire.organization_id': claim.organizationId,
        'deskwire.webhook_id': claim.webhookId,
        'deskwire.delivery_id': id,
        'deskwire.event_type': event.type,
        'deskwire.attempt': attemptCount + 1,
      },
    })
    return {
      headers: sendsTraceparent ? { traceparent: span.traceparent } : {},
      within: (work) => tracer.within(span, work),
      ended({ responseStatus, verdict }) {
        if (responseStatus !== null) span.set({ 'http.response.status_code': responseStatus })
        span.set({ 'deskwire.delivery_status': verdict.status })
        span.end(verdict.error?.code ?? null)
      },
    }
  }
}

/** Without the path, which may be the receiver's only protection. */
function addressOf(url: string): Attributes {
  const { hostname, port } = new URL(url)
  return { 'server.address': hostname, 'server.port': port === '' ? 443 : Number(port) }
}

/** Seconds, as those of `deskwire_delivery_attempt_duration_seconds`. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]

/** Records attempts by OpenTelemetry's messaging conventions and passes them on to `other`. */
export function observeAttempts({ meter }: Telemetry, other: DeliveryObserver): DeliveryObserver {
  const duration = meter.histogram('messaging.client.operation.duration', {
    unit: 's',
    description: 'Duration of messaging operation initiated by a producer or consumer client.',
    boundaries: durations,
  })
  const sent = meter.counter('messaging.client.sent.messages', {
    unit: '{message}',
    description: 'Number of messages producer attempted to send to the broker.',
  })
  return {
    attempted(attempt) {
      const { outcome, durationMs } = attempt
      const attributes = { ...messaging, ...(outcome !== 'succeeded' && { 'error.type': outcome }) }
      duration(durationMs / 1_000, attributes)
      sent(1, attributes)
      other.attempted(attempt)
    },
    disabled: (reason) => other.disabled(reason),
  }
}
