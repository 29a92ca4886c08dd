/**
 * Telemetry by OpenTelemetry's libraries, which only this file and `registry-producer.ts` import; only `open.ts` loads
 * this file. A failing export does not affect the service: spans wait in a bounded queue, exports time out, and a
 * failure is logged at most once a minute.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { clipped } from '@deskwire/sdk/clipped'
import { readJson } from '@deskwire/sdk/json'
import {
  type Context,
  type DiagLogger,
  DiagLogLevel,
  diag,
  type Meter as OtelMeter,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { atMost } from '../kernel/periodic.ts'
import {
  type Attributes,
  type Meter,
  type ProcessRole,
  parseTraceparent,
  processLabel,
  type Span,
  type SpanOptions,
  type Telemetry,
  type Tracer,
} from '../kernel/telemetry.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import { RegistryProducer } from './registry-producer.ts'
import type { SamplerName, TelemetrySettings } from './settings.ts'

const closeWithin = 2_000
const warningsApart = 60_000

export interface OpenTelemetry extends Telemetry {
  reportTo(log: { warn(fields: object, message: string): void }): void
  /** Exports what remains, for at most two seconds; never rejects. */
  close(): Promise<void>
}

/** The telemetry of one process; the exporters read further settings from the environment. */
export function createTelemetry(role: ProcessRole, settings: TelemetrySettings): OpenTelemetry {
  const resource = resourceOf(role)
  const { traces, metrics, endpoint, tracesEndpoint, metricsEndpoint } = settings
  const tracing = traces === 'otlp' && (endpoint ?? tracesEndpoint) !== null
  const metering = metrics === 'otlp' && (endpoint ?? metricsEndpoint) !== null
  const spans = new TracerProvider({
    resource,
    sampler: tracing ? samplerOf(settings.sampler, settings.samplerArgument) : new AlwaysOffSampler(),
    spanProcessors: tracing ? [processorOf(settings)] : [],
  })
  const registry = new RegistryProducer()
  const figures = new MeterProvider({
    resource,
    readers: metering ? [readerOf(settings, registry)] : [],
  })
  return {
    tracer: tracerOf(spans.getTracer('deskwire', version)),
    meter: meterOf(figures.getMeter('deskwire', version)),
    sendsTraceparent: tracing && settings.propagators,
    logFields: () => storage.getStore()?.logFields ?? {},
    publish: (register) => registry.add(register),
    reportTo(log) {
      diag.setLogger(diagnostics(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
    },
    async close() {
      await atMost(closeWithin, Promise.allSettled([spans.shutdown(), figures.shutdown()]))
    },
  }
}

/** The environment overrides it. */
function resourceOf(role: ProcessRole): Resource {
  const own = resourceFromAttributes({
    'service.name': 'deskwire',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    'deskwire.process': processLabel(role),
  })
  // Not the process detector, because the command line may contain a database's password.
  return own.merge(detectResources({ detectors: [envDetector] }))
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  }
}

function processorOf(settings: TelemetrySettings): BatchSpanProcessor {
  const exporter = settings.protocol === 'http/json' ? new JsonTraceExporter() : new ProtobufTraceExporter()
  return new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: settings.scheduleDelay,
    exportTimeoutMillis: settings.exportTimeout,
    maxQueueSize: settings.maxQueueSize,
    maxExportBatchSize: settings.maxExportBatchSize,
  })
}

function readerOf(settings: TelemetrySettings, registry: RegistryProducer): PeriodicExportingMetricReader {
  const exporter = settings.protocol === 'http/json' ? new JsonMetricExporter() : new ProtobufMetricExporter()
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: settings.metricInterval,
    exportTimeoutMillis: Math.min(settings.metricTimeout, settings.metricInterval),
    metricProducers: [registry],
  })
}

/** Logs a warning at most once a minute, because every export fails while a collector is down. */
function diagnostics(log: { warn(fields: object, message: string): void }): DiagLogger {
  const elapsed = stopwatch()
  let warnedAt = Number.NEGATIVE_INFINITY
  const warn = (...parts: unknown[]) => {
    if (elapsed() - warnedAt < warningsApart) return
    warnedAt = elapsed()
    log.warn({ reason: parts.map(reasonOf).join(' ') }, 'telemetry could not be exported')
  }
  const nothing = () => {}
  return { error: warn, warn: warn, info: nothing, debug: nothing, verbose: nothing }
}

/** The libraries log an error as JSON of its members, with the stack. */
function reasonOf(part: unknown): string {
  const text = part instanceof Error ? part.message : String(part)
  try {
    return clipped(String(readJson<{ message?: unknown }>(text).message ?? text), 300)
  } catch {
    return clipped(text, 300)
  }
}

const storage = new AsyncLocalStorage<OtlpSpan | null>()

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} as const

class OtlpSpan implements Span {
  readonly #span: OtelSpan

  constructor(span: OtelSpan) {
    this.#span = span
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext()
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  }

  get context(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.#span)
  }

  get logFields(): Readonly<Record<string, string>> {
    const { traceId, spanId, traceFlags } = this.#span.spanContext()
    return { trace_id: traceId, span_id: spanId, trace_flags: traceFlags.toString(16).padStart(2, '0') }
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes)
  }

  end(error: string | null = null): void {
    if (error !== null) {
      this.#span.setAttribute('error.type', error)
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end()
  }
}

function tracerOf(tracer: OtelTracer): Tracer {
  return {
    begin(name, { kind, parent, attributes = {}, link = null }) {
      const linked = link === null ? null : parseTraceparent(link)
      const links = linked === null ? [] : [{ context: remote(linked) }]
      const options = { kind: kinds[kind], attributes: { ...attributes }, links, root: parent === null }
      return new OtlpSpan(tracer.startSpan(name, options, contextOf(parent)))
    },
    get current() {
      return storage.getStore() ?? null
    },
    within: (span, work) => storage.run(span as OtlpSpan | null, work),
  }
}

function contextOf(parent: SpanOptions['parent']): Context {
  if (parent === null) return ROOT_CONTEXT
  if (typeof parent !== 'string') return (parent as OtlpSpan).context
  const named = parseTraceparent(parent)
  return named === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote(named))
}

function remote({ traceId, spanId, sampled }: NonNullable<ReturnType<typeof parseTraceparent>>) {
  return { traceId, spanId, isRemote: true, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE }
}

function meterOf(meter: OtelMeter): Meter {
  return {
    histogram(name, { boundaries, ...described }) {
      const advice = { explicitBucketBoundaries: [...boundaries] }
      const histogram = meter.createHistogram(name, { ...described, advice })
      return (value, attributes) => histogram.record(value, attributes)
    },
    counter(name, options) {
      const counter = meter.createCounter(name, options)
      return (value, attributes) => counter.add(value, attributes)
    },
    upDownCounter(name, options) {
      const counter = meter.createUpDownCounter(name, options)
      return (value, attributes) => counter.add(value, attributes)
    },
    observe(name, options, read) {
      meter.createObservableUpDownCounter(name, options).addCallback((result) => {
        for (const { value, attributes } of read()) result.observe(value, attributes)
      })
    },
  }
}
