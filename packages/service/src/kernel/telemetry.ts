/**
 * What work tells of itself where telemetry is on: spans, which make one trace of what belongs together, and figures. These
 * are interfaces alone, so that whoever works knows nothing of OpenTelemetry; `telemetry/sdk.ts` speaks it, and is loaded
 * where somebody asked for it and nowhere else (decision 54).
 */
import type { LogFields } from './log.ts'

/** By their names in the semantic conventions, or below `deskwire.`. Never a body, a query, a token or a receiver's path. */
export type Attributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work, from its beginning to its end. */
export interface Span {
  /** What others, in other processes and later, name as the parent of theirs: a `traceparent` of W3C's Trace Context. */
  readonly traceparent: string
  set(attributes: Attributes): void
  /** To be called once. `error` is what went wrong, one of few words, by which it counts as failed. */
  end(error?: string | null): void
}

export interface SpanOptions {
  /** `server`: somebody waits for the answer; `client`: it waits for somebody; `producer`: somebody acts on it later. */
  readonly kind: 'server' | 'client' | 'producer' | 'internal'
  /** What it is a part of, as a span of this process or the `traceparent` of another; null begins a trace. */
  readonly parent: Span | string | null
  readonly attributes?: Attributes
  /** A `traceparent` that it has to do with, without being a part of that. */
  readonly link?: string | null
}

export interface Tracer {
  begin(name: string, options: SpanOptions): Span
  /** What is done here is a part of it; null where it is a part of nothing. */
  readonly current: Span | null
  /** Does the work, and all that follows from it, as a part of this span; of nothing where it is null. */
  within<T>(span: Span | null, work: () => T): T
}

/** A figure: its unit in UCUM's notation, as the conventions have it. */
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
  /** What goes up and down: told by how much. */
  upDownCounter(name: string, options: InstrumentOptions): (value: number, attributes: Attributes) => void
  /** What is read when it is exported. */
  observe(
    name: string,
    options: InstrumentOptions,
    read: () => readonly { readonly value: number; readonly attributes: Attributes }[],
  ): void
}

export interface Telemetry {
  readonly tracer: Tracer
  readonly meter: Meter
  /** Whether receivers of deliveries are sent the `traceparent` of their attempt. */
  readonly sendsTraceparent: boolean
  /** What a line of the log says of the trace in which it was written. */
  readonly logFields: LogFields
  /** Exports these figures as well, under the names that /metrics has. */
  publish(figures: FiguresSource): void
}

/** A registry of figures, as prom-client has it. */
export interface FiguresSource {
  getMetricsAsJSON(): Promise<readonly object[]>
}

/** `00-`, 32 digits of the trace, 16 of the span, 2 of flags; another version's begins like that. Ids of zeros are none. */
const traceparentForm =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** What a `traceparent` names; null when it is none. */
export function parseTraceparent(
  text: string,
): { readonly traceId: string; readonly spanId: string; readonly sampled: boolean } | null {
  const [, traceId, spanId, flags = ''] = traceparentForm.exec(text) ?? []
  if (traceId === undefined || spanId === undefined) return null
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
