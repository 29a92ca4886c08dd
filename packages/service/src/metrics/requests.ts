/** What the API counts of its requests and of its commits. */
import type { FastifyInstance } from 'fastify'
import { Gauge, Histogram, type Registry } from 'prom-client'
import { stopwatch } from '../kernel/timestamps.ts'
import { ClockSkewWatch } from './clock-skew.ts'

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/** Times every request by method, route and class of status: routes as they are declared, whatever the path says. */
export function timeRequests(server: FastifyInstance, register: Registry): void {
  const durations = new Histogram({
    name: 'deskwire_http_request_duration_seconds',
    help: 'From the arrival of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers: [register],
  })
  // The library looks a series up by its sorted labels each time.
  const series = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>()
  server.addHook('onResponse', (request, reply, done) => {
    // What no route answers, and methods that a route refuses, are one series each.
    const route = request.routeOptions.url ?? 'none'
    const method = commonMethods.has(request.method) ? request.method : 'other'
    const status = `${Math.floor(reply.statusCode / 100)}xx`
    const name = `${method} ${status} ${route}`
    const known = series.get(name) ?? durations.labels({ method, route, status })
    series.set(name, known)
    known.observe(reply.elapsedTime / 1000)
    done()
  })
}

/** Anybody can send any method, but each of these is one of few. */
const commonMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'])

/** What is told of a call of the commit function: how long it took, what it carried, how far ahead it was. */
export interface CommitCalled {
  readonly milliseconds: number
  readonly units: number
  /** Milliseconds; null where nobody asked. */
  readonly clockSkew: number | null
}

/** Histograms of commits, and the skew of the stream's clock; `warn` is told of one that is worth it, once a minute. */
export function createCommitMetrics(
  register: Registry,
  warn: (clockSkew: number) => void,
): (call: CommitCalled) => void {
  const watch = new ClockSkewWatch(stopwatch(), warn)
  const registers = [register]
  const durations = new Histogram({
    name: 'deskwire_stream_commit_duration_seconds',
    help: 'One call of the commit function, which commits a group of changes',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  })
  const sizes = new Histogram({
    name: 'deskwire_stream_commit_group_size',
    help: 'Changes that were committed together by one call, those of bulk requests counted as one',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  })
  new Gauge({
    name: 'deskwire_stream_lead_seconds',
    help: "How far stamps of the last minute were ahead of the database's clock at most",
    registers,
    collect() {
      this.set(watch.clockSkew / 1000)
    },
  })
  return ({ milliseconds, units, clockSkew }) => {
    watch.see(clockSkew)
    durations.observe(milliseconds / 1000)
    sizes.observe(units)
  }
}
