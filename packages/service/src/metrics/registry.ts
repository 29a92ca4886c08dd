/** Metrics of one process, and of several together, in Prometheus' text format. */

import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from 'prom-client'
import { cached } from '../kernel/shared-work.ts'
import { type ProcessRole, processLabel } from '../kernel/telemetry.ts'
import { type Clock, stopwatch } from '../kernel/timestamps.ts'
import { commit, version } from '../kernel/version.ts'
import { catalogue, type Figure, type LabelsOf, type NameOf } from './catalogue.ts'

/** A process's metrics as they are sent between processes. */
export type MetricsSnapshot = object[]

/**
 * With the label `process` and the metrics of Node, or those of one of several databases, with the label `database`.
 */
export function createRegistry(role: ProcessRole, database: string | null = null): Registry {
  const register = new Registry()
  register.setDefaultLabels({ process: processLabel(role), ...(database === null ? {} : { database }) })
  if (database !== null) return register
  for (const metric of threadMetrics(role).getMetricsAsArray()) {
    register.registerMetric(metric as unknown as Metric)
  }
  return register
}

/** These use undocumented functions of Node, which can abort the process. `nodejs_active_resources` counts the same. */
const mayAbort = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]

const made = new Map<ProcessRole, Registry>()

/**
 * The metrics of Node in this thread. Their observers live as long as the thread, so they are created once per thread.
 */
function threadMetrics(role: ProcessRole): Registry {
  const known = made.get(role)
  if (known !== undefined) return known
  const register = new Registry()
  if (role !== 'offload') {
    collectDefaultMetrics({ register })
    for (const name of mayAbort) register.removeSingleMetric(name)
  }
  watchEventLoop(register)
  gauge(register, 'deskwire_build_info', (it) =>
    it.set({ version, commit: commit ?? '', node: process.versions.node }, 1),
  )
  made.set(role, register)
  return register
}

/** Milliseconds: creating the text takes longer than most requests. */
const goodFor = 1_000

/** The metrics of this process, and of others that report through it. Created at most once a second. */
export function metricsText(
  registers: () => readonly Registry[],
  others: () => Promise<readonly MetricsSnapshot[]>,
  clock: Clock,
): () => Promise<string> {
  return cached(
    async () => {
      const snapshots = await Promise.all([...snapshotsOf(registers()), ...(await others())])
      return AggregatorRegistry.aggregate(snapshots).metrics()
    },
    { clock, goodFor },
  )
}

export function snapshotsOf(registers: readonly Registry[]): Promise<MetricsSnapshot>[] {
  return registers.map((register) => register.getMetricsAsJSON())
}

/** What an instrument of prom-client is made from. */
function configuration<Name extends keyof typeof catalogue>(register: Registry, name: Name) {
  const { help, labels = [] }: Figure = catalogue[name]
  return { name, help, labelNames: [...labels] as LabelsOf<Name>[], registers: [register] }
}

export function counter<Name extends NameOf<'counter'>>(
  register: Registry,
  name: Name,
): Counter<LabelsOf<Name>> {
  return new Counter<LabelsOf<Name>>(configuration(register, name))
}

export function histogram<Name extends NameOf<'histogram'>>(
  register: Registry,
  name: Name,
): Histogram<LabelsOf<Name>> {
  const buckets = [...catalogue[name].buckets]
  return new Histogram<LabelsOf<Name>>({ ...configuration(register, name), buckets })
}

/** `collect` sets it when it is read. */
export function gauge<Name extends NameOf<'gauge'>>(
  register: Registry,
  name: Name,
  collect: (gauge: Gauge<LabelsOf<Name>>) => void | Promise<void>,
): void {
  new Gauge<LabelsOf<Name>>({
    ...configuration(register, name),
    collect() {
      return collect(this as unknown as Gauge<LabelsOf<Name>>)
    },
  })
}

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

/** Measures how long the event loop was blocked; meanwhile nothing else is served. */
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
