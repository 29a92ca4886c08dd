/**
 * Metrics of one process, and what several processes tell together, in Prometheus' text. No label names an organization,
 * an endpoint or an id: how many series there are depends on the code alone.
 */
import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { sent } from '../http/replies.ts'
import { routesOf } from '../http/route.ts'
import { cached } from '../kernel/cached.ts'
import { type ProcessRole, processLabel } from '../kernel/process-role.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import type { ApiModule } from '../openapi/api-module.ts'
import { watchEventLoop } from './event-loop.ts'
import { gauge } from './instruments.ts'

/** A process's metrics as they travel between processes. */
export type MetricsSnapshot = object[]

/**
 * A registry whose series carry the part, with the delay of its event loop, and of a process the usual ones of Node. One of several
 * databases has a registry of its own, whose series carry its name too, without what is the process's.
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

/**
 * Asked through functions of Node that are not documented: where the collector has just taken a handle's object, they end the process with
 * a failed assertion. `nodejs_active_resources`, by a documented one, counts the same.
 */
const mayAbort = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]

const made = new Map<ProcessRole, Registry>()

/**
 * What Node and the event loop say of this thread. Their observers watch for as long as the thread runs, and keep what they
 * write to: made once, and not with each service, or whoever starts several in a process would never be rid of one.
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
  gauge(register, 'deskwire_build_info', (it) => it.set({ version, node: process.versions.node }, 1))
  made.set(role, register)
  return register
}

/** What all of them say, as text; series that two have in common are summed up. */
function textOf(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics()
}

const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE

/** How old figures may be, in milliseconds: to write them down takes longer than most requests. */
const goodFor = 1_000

/**
 * This process's figures, and those of the processes that it speaks for. Made once a second at most, however often they are
 * asked for: 300 scrapes at once held other requests up for 8.9 s.
 */
export function metricsText(
  registers: () => readonly Registry[],
  others: () => Promise<readonly MetricsSnapshot[]>,
  clock: Clock,
): () => Promise<string> {
  return cached(
    async () => {
      return textOf(await Promise.all([...snapshotsOf(registers()), ...(await others())]))
    },
    { clock, goodFor },
  )
}

/** What these registries say, as it travels. */
export function snapshotsOf(registers: readonly Registry[]): Promise<MetricsSnapshot>[] {
  return registers.map((register) => register.getMetricsAsJSON())
}

const route = routesOf<{ readonly text: () => Promise<string> }>()

const metrics = route({
  method: 'get',
  path: '/metrics',
  id: 'metrics',
  tag: 'service',
  summary: 'Figures of requests, commits and deliveries',
  description:
    "In Prometheus' text format, of the API and of the worker beside it, as they were at most a second ago. No figure names an organization or an endpoint. Served on a port of its own, and not here, where DESKWIRE_METRICS_PORT is set.",
  access: 'public',
  answers: {
    200: {
      description: 'The figures.',
      mediaType: 'text/plain',
      schema: { type: 'string' },
      examples: () => ({ metrics: 'deskwire_deliveries_due{process="api"} 0\n' }),
    },
  },
  async handle({ text }, { reply }) {
    reply.header('content-type', metricsContentType).send(await text())
    return sent
  },
})

export const metricsApi = { tags: [], routes: [metrics] } satisfies ApiModule
