/** What /metrics shows of the service, handed to OpenTelemetry as it is: the same names, so that one dashboard reads either. */
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

/** A figure as the registry tells it: of a histogram, a value each bucket, with `le` among its labels, a sum and a count. */
interface Told {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: readonly {
    readonly value: number
    readonly metricName?: string
    readonly labels: Readonly<Record<string, string | number>>
  }[]
}

/** Figures of the service's own: those of Node and of the process have names of their own in the conventions. */
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
    const told = await Promise.all(this.#registers.map((register) => register.getMetricsAsJSON()))
    const times = { startTime: this.#began, endTime: timeOf(this.#clock.now()) }
    const metrics = (told.flat() as Told[])
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

/** Null of a summary, which the service has none of. */
function metricOf({ name, help, type, values }: Told, times: Times): MetricData | null {
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

/** A point a series. The registry counts what is in a bucket or below it; OpenTelemetry what is in it. */
function histogramPoints(values: Told['values'], times: Times) {
  const series = new Map<
    string,
    { readonly attributes: Record<string, string | number>; rows: Told['values'][number][] }
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
