/**
 * Metrics of one process, and what several processes tell together, in Prometheus' text. No label names an organization,
 * an endpoint or an id: how many series there are depends on the code alone.
 */
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import { watchEventLoop } from './event-loop.ts'

/** A process's metrics as they travel between processes. */
export type MetricsSnapshot = object[]

/** What a process does, or a thread of the API: the one for large bodies. */
export type Part = 'api' | 'bulk' | 'worker'

/** A registry whose series carry the part, with the delay of its event loop, and of a process the usual ones of Node. */
export function createRegistry(part: Part): Registry {
  const register = new Registry()
  register.setDefaultLabels({ process: part })
  if (part !== 'bulk') collectDefaultMetrics({ register })
  watchEventLoop(register)
  return register
}

/** What all of them say, as text; series that two have in common are summed up. */
export function textOf(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics()
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE
