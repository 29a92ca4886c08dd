/**
 * OpenTelemetry's variables. Telemetry is on when an endpoint is set. Those that the exporters read have no parser
 * here.
 */
import { fail, ok, type Result } from '../kernel/outcome.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Variable<V> {
  readonly name: `OTEL_${string}`
  readonly default: string
  readonly help: string
  readonly accepts: string
  readonly parse: (text: string) => V | undefined
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof samplers)[number]

const protocols = ['http/protobuf', 'http/json'] as const
type Protocol = (typeof protocols)[number]

function variable<V>(entry: Variable<V>): Variable<V> {
  return entry
}

function oneOf<const V extends string>(known: readonly V[]) {
  return {
    accepts: `one of ${known.join(', ')}`,
    parse: (text: string) => known.find((name) => name === text),
  }
}

const count = (help: string, name: `OTEL_${string}`, value: string) =>
  variable({
    name,
    default: value,
    help,
    accepts: 'a whole number above 0',
    parse: (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
  })

const endpoint = (name: `OTEL_${string}`, help: string) =>
  variable<string | null>({
    name,
    default: '',
    help,
    accepts: 'an http or https URL, for example http://localhost:4318',
    parse: (text) =>
      text === '' ? null : /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined,
  })

export const telemetryVariables = {
  disabled: variable({
    name: 'OTEL_SDK_DISABLED',
    default: 'false',
    help: 'true: telemetry stays off despite other settings',
    accepts: 'true or false',
    parse: (text) => (/^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined),
  }),
  endpoint: endpoint(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'where an OTLP receiver listens over HTTP; turns telemetry on',
  ),
  tracesEndpoint: endpoint('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'the same for traces alone, with its path'),
  metricsEndpoint: endpoint(
    'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    'the same for metrics alone, with its path',
  ),
  protocol: variable<Protocol>({
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    default: 'http/protobuf',
    help: 'how both are written; gRPC is not supported',
    ...oneOf(protocols),
  }),
  traces: variable({
    name: 'OTEL_TRACES_EXPORTER',
    default: 'otlp',
    help: 'none: no traces',
    ...oneOf(['otlp', 'none']),
  }),
  metrics: variable({
    name: 'OTEL_METRICS_EXPORTER',
    default: 'otlp',
    help: 'none: no metrics over OTLP; /metrics stays',
    ...oneOf(['otlp', 'none']),
  }),
  propagators: variable<boolean>({
    name: 'OTEL_PROPAGATORS',
    default: 'tracecontext',
    help: 'whether receivers of deliveries are sent traceparent: with tracecontext among them they are',
    accepts: 'tracecontext, baggage or none, separated by commas',
    parse: (text) =>
      /^(tracecontext|baggage|none)(,(tracecontext|baggage))*$/.test(text)
        ? text.split(',').includes('tracecontext')
        : undefined,
  }),
  sampler: variable<SamplerName>({
    name: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    help: 'which traces are kept, decided once, where they begin',
    ...oneOf(samplers),
  }),
  samplerArgument: variable({
    name: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    help: 'of a sampler by ratio: the part that is kept',
    accepts: 'a number from 0 to 1',
    parse: (text) => (/^(0|1|[01]?\.\d+)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  }),
  scheduleDelay: count('milliseconds between two exports of spans', 'OTEL_BSP_SCHEDULE_DELAY', '5000'),
  exportTimeout: count('milliseconds that such an export may take', 'OTEL_BSP_EXPORT_TIMEOUT', '30000'),
  maxQueueSize: count('spans that wait at most; those beyond are dropped', 'OTEL_BSP_MAX_QUEUE_SIZE', '2048'),
  maxExportBatchSize: count('spans that one export has at most', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '512'),
  metricInterval: count(
    'milliseconds between two exports of metrics',
    'OTEL_METRIC_EXPORT_INTERVAL',
    '60000',
  ),
  metricTimeout: count('milliseconds that such an export may take', 'OTEL_METRIC_EXPORT_TIMEOUT', '30000'),
} as const

/** Variables that the libraries read. */
export const libraryVariables = [
  ['OTEL_SERVICE_NAME', 'the name of the service; `deskwire` unless set'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'what else all of it is marked with, as `name=value,…`'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'headers of each export, as `name=value,…`: what authenticates'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', 'milliseconds that a request may take; 10000 unless set'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', '`gzip` or `none`'],
  [
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    'PEM file of the authorities that the receiver may have its certificate of',
  ],
  ['OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', 'PEM file of the own certificate'],
  ['OTEL_EXPORTER_OTLP_CLIENT_KEY', 'PEM file of its key'],
  ['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', '`cumulative`, `delta` or `lowmemory`'],
] as const

type Variables = typeof telemetryVariables
export type TelemetrySettings = {
  readonly [K in keyof Variables]: Variables[K] extends Variable<infer V> ? V : never
}

/** Null when telemetry is off. The error is one line, without an endpoint's value, which may contain a password. */
export function readTelemetrySettings(environment: Environment): Result<TelemetrySettings | null, string> {
  const isOn = ['endpoint', 'tracesEndpoint', 'metricsEndpoint'] as const
  if (isOn.every((name) => !environment[telemetryVariables[name].name])) return ok(null)
  const settings: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries<Variable<unknown>>(telemetryVariables)) {
    const text = environment[entry.name]?.trim() || entry.default
    const value = entry.parse(text)
    if (value === undefined) {
      const shown = entry.name.endsWith('ENDPOINT') ? 'what is set' : JSON.stringify(text)
      return fail(`${entry.name}: ${shown} is not accepted; it must be ${entry.accepts}`)
    }
    settings[key] = value
  }
  if (settings.disabled === true) return ok(null)
  const read = settings as TelemetrySettings
  if (read.maxExportBatchSize > read.maxQueueSize)
    return fail('OTEL_BSP_MAX_EXPORT_BATCH_SIZE must be no larger than OTEL_BSP_MAX_QUEUE_SIZE')
  return ok(read)
}
