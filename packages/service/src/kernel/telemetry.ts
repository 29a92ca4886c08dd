/** Interfaces of traces and metrics. `telemetry/sdk.ts` implements them, loaded when telemetry is on (decision 54). */
import type { LogFields } from './log.ts'

/** Named by the semantic conventions, or below `deskwire.`. Never a body, a query, a token or a receiver's path. */
export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface Span {
  /** Names the span as parent of spans in other processes: a `traceparent` of W3C Trace Context. */
  readonly traceparent: string
  set(attributes: Attributes): void
  /** Call once. `error`: an error type from a small fixed set; null or absent for success. */
  end(error?: string | null): void
}

export interface SpanOptions {
  /** `client`: this process waits for another; `producer`: another process acts on it later. */
  readonly kind: 'server' | 'client' | 'producer' | 'internal'
  /** The parent: a span of this process or a `traceparent`; null starts a trace. */
  readonly parent: Span | string | null
  readonly attributes?: Attributes
  /** The `traceparent` of a related span that is not the parent. */
  readonly link?: string | null
}

export interface Tracer {
  begin(name: string, options: SpanOptions): Span
  /** Of the current asynchronous context; null without one. */
  readonly current: Span | null
  /** Runs the work in the context of this span; null: outside any span. */
  within<T>(span: Span | null, work: () => T): T
}

/** Units in UCUM notation, as in the conventions. */
interface InstrumentOptions {
  readonly unit: string
  readonly description: string
}

export interface Meter {
  /** `boundaries` of its buckets, ascending, in its unit. */
  histogram(
    name: string,
    options: InstrumentOptions & { readonly boundaries: readonly number[] },
  ): (value: number, attributes: Attributes) => void
  counter(name: string, options: InstrumentOptions): (value: number, attributes: Attributes) => void
  /** A value that goes up and down; call it with the difference. */
  upDownCounter(name: string, options: InstrumentOptions): (value: number, attributes: Attributes) => void
  /** A value that is read at export. */
  observe(
    name: string,
    options: InstrumentOptions,
    read: () => readonly { readonly value: number; readonly attributes: Attributes }[],
  ): void
}

export interface Telemetry {
  readonly tracer: Tracer
  readonly meter: Meter
  /** Whether deliveries carry the `traceparent` of their attempt. */
  readonly sendsTraceparent: boolean
  readonly logFields: LogFields
  /** Also exports these metrics, under their names in /metrics. */
  publish(figures: FiguresSource): void
}

/** A prom-client registry. */
export interface FiguresSource {
  getMetricsAsJSON(): Promise<readonly object[]>
}

/** `00-`, 32 digits of the trace, 16 of the span, 2 of flags; other versions begin alike. All-zero ids are invalid. */
const traceparentForm =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

export function parseTraceparent(
  text: string,
): { readonly traceId: string; readonly spanId: string; readonly sampled: boolean } | null {
  const [, traceId, spanId, flags = ''] = traceparentForm.exec(text) ?? []
  if (traceId === undefined || spanId === undefined) return null
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The offload thread is a thread of the API, with its own metrics and telemetry. */
export type ProcessRole = 'api' | 'offload' | 'worker'

/** The value of the label `process` in metrics, and of `deskwire.process` in telemetry. */
export function processLabel(role: ProcessRole): string {
  // Released dashboards and alerts use this name for the offload thread.
  return role === 'offload' ? 'bulk' : role
}
