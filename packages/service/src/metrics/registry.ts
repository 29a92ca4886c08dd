/**
 * Metrics of one process, and what several processes tell together, in Prometheus' text. No label names an organization,
 * an endpoint or an id: how many series there are depends on the code alone.
 */
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'

/** A process's metrics as they travel between processes. */
export type MetricsSnapshot = object[]

/** A registry whose series carry the process's part, with the usual ones of a Node process in it. */
export function createRegistry(part: 'api' | 'worker'): Registry {
  const register = new Registry()
  register.setDefaultLabels({ process: part })
  collectDefaultMetrics({ register })
  return register
}

/** What all of them say, as text; series that two have in common are summed up. */
export function textOf(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics()
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE
