/** Metrics of one process, and of several together, in Prometheus' text format. */
import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { cached } from '../kernel/cached.ts'
import { type ProcessRole, processLabel } from '../kernel/telemetry.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { commit, version } from '../kernel/version.ts'
import { watchEventLoop } from './event-loop.ts'
import { gauge } from './instruments.ts'

/** A process's metrics as they are sent between processes. */
export type MetricsSnapshot = object[]

/** With the label `process` and the metrics of Node, or those of one of several databases, with the label `database`. */
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

/** The metrics of Node in this thread. Their observers live as long as the thread, so they are created once per thread. */
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
