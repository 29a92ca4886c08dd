/** Exports the metrics of /metrics through OpenTelemetry under the same names, so that one dashboard fits both. */
import { type HrTime, ValueType } from '@opentelemetry/api'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { FiguresSource } from '../kernel/telemetry.ts'
import { type Clock, systemClock } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'

/** A metric from the registry: a histogram has a value per bucket with the label `le`, a sum and a count. */
interface RegistryMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: readonly {
    readonly value: number
    readonly metricName?: string
    readonly labels: Readonly<Record<string, string | number>>
  }[]
}

/** Only the service's own metrics: those of Node have other names in the conventions. */
const own = /^deskwire_/

export class RegistryProducer implements MetricProducer {
  readonly #registers: FiguresSource[] = []
  readonly #clock: Clock
  readonly #began: HrTime

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    this.#began = timeOf(clock.now())
  }

  add(register: FiguresSource): void {
    this.#registers.push(register)
  }

  async collect(): Promise<CollectionResult> {
    const read = await Promise.all(this.#registers.map((register) => register.getMetricsAsJSON()))
    const times = { startTime: this.#began, endTime: timeOf(this.#clock.now()) }
    const metrics = (read.flat() as RegistryMetric[])
      .filter(({ name }) => own.test(name))
      .flatMap((figure) => metricOf(figure, times) ?? [])
    return {
      resourceMetrics: {
        resource: emptyResource(),
        scopeMetrics: [{ scope: { name: 'deskwire', version }, metrics }],
      },
      errors: [],
    }
  }
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

function timeOf(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1_000), (milliseconds % 1_000) * 1_000_000]
}

/** Null for a summary, which the service does not use. */
function metricOf({ name, help, type, values }: RegistryMetric, times: Times): MetricData | null {
  const unit = name.endsWith('_seconds') ? 's' : name.endsWith('_bytes') ? 'By' : ''
  const common = {
    descriptor: { name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = () => values.map(({ value, labels }) => ({ ...times, value, attributes: { ...labels } }))
  switch (type) {
    case 'counter':
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }
    case 'gauge':
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }
    case 'histogram':
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(values, times) }
    case 'summary':
      return null
  }
}

/** One point per series. The registry's buckets are cumulative, OpenTelemetry's are not. */
function histogramPoints(values: RegistryMetric['values'], times: Times) {
  const series = new Map<
    string,
    { readonly attributes: Record<string, string | number>; rows: RegistryMetric['values'][number][] }
  >()
  for (const row of values) {
    const { le: _le, ...attributes } = row.labels
    const key = JSON.stringify(Object.entries(attributes).sort())
    const known = series.get(key) ?? { attributes, rows: [] }
    known.rows.push(row)
    series.set(key, known)
  }
  return [...series.values()].map(({ attributes, rows }) => {
    const buckets = rows
      .filter(({ labels }) => labels.le !== undefined)
      .map(({ labels, value }) => ({
        upTo: labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le),
        value,
      }))
      .sort((a, b) => a.upTo - b.upTo)
    const only = (ending: string) => rows.find(({ metricName }) => metricName?.endsWith(ending))?.value ?? 0
    return {
      ...times,
      attributes,
      value: {
        buckets: {
          boundaries: buckets.map(({ upTo }) => upTo).filter(Number.isFinite),
          counts: buckets.map(({ value }, n) => value - (buckets[n - 1]?.value ?? 0)),
        },
        sum: only('_sum'),
        count: only('_count'),
      },
    }
  })
}
