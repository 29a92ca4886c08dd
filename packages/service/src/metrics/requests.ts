/** Metrics of requests and commits. No metric names an organization. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Histogram, Registry } from 'prom-client'
import { LimitExceeded } from '../admission/fair-queue.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import { counter, gauge, histogram } from './registry.ts'

/** The hook `onResponse`: times requests by method, class of status, and declared route. */
export function timeRequests(register: Registry) {
  const durations = histogram(register, 'deskwire_http_request_duration_seconds')
  // Cached, because the library sorts the labels at each look-up.
  const series = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>()
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // Requests without a route are one series, and so are methods that a route refuses.
    const route = request.routeOptions.url ?? 'none'
    const method = commonMethods.has(request.method) ? request.method : 'other'
    const status = `${Math.floor(reply.statusCode / 100)}xx`
    const name = `${method} ${status} ${route}`
    const known = series.get(name) ?? durations.labels({ method, route, status })
    series.set(name, known)
    known.observe(reply.elapsedTime / 1000)
    done()
  }
}

/** Clients can send any method, so other methods share one label. */
const commonMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'])

interface AdmissionUsage {
  readonly requests: number
  readonly memory: number
  readonly waiting: number
  /** Changes that are not committed yet. */
  readonly pending: number
}

/** Adds the gauges. Returns a hook, `onError`, that counts refusals. */
export function countAdmission(register: Registry, usage: () => AdmissionUsage) {
  const refusals = counter(register, 'deskwire_share_refusals_total')
  gauge(register, 'deskwire_http_requests_under_way', (it) => it.set(usage().requests))
  gauge(register, 'deskwire_http_requests_waiting', (it) => it.set(usage().waiting))
  gauge(register, 'deskwire_http_memory_bytes', (it) => it.set(usage().memory))
  gauge(register, 'deskwire_stream_changes_pending', (it) => it.set(usage().pending))
  return (_request: unknown, _reply: unknown, error: Error, done: () => void): void => {
    if (error instanceof LimitExceeded) refusals.inc({ of: error.what, reason: error.reason })
    done()
  }
}

interface CommitCalled {
  readonly milliseconds: number
  readonly units: number
  /** Milliseconds; null when it was not measured. */
  readonly clockSkew: number | null
}

/** Histograms of commits, and the clock skew of the stream; calls `warn` at most once a minute. */
export function createCommitMetrics(
  register: Registry,
  warn: (clockSkew: number) => void,
): (call: CommitCalled) => void {
  const watch = new ClockSkewWatch(stopwatch(), warn)
  const durations = histogram(register, 'deskwire_stream_commit_duration_seconds')
  const sizes = histogram(register, 'deskwire_stream_commit_group_size')
  gauge(register, 'deskwire_stream_lead_seconds', (it) => it.set(watch.clockSkew / 1000))
  return ({ milliseconds, units, clockSkew }) => {
    watch.see(clockSkew)
    durations.observe(milliseconds / 1000)
    sizes.observe(units)
  }
}

/** Milliseconds of skew that cause a warning: more than clocks with a time server differ by. */
export const warnFrom = 5_000

const period = 60_000

/**
 * The stream's largest lead over the database's clock in the last minute, with warnings (decision 1). `elapsed` in
 * milliseconds.
 */
export class ClockSkewWatch {
  readonly #elapsed: () => number
  readonly #warn: (clockSkew: number) => void
  #began = 0
  #largest = 0
  #before = 0
  #warned = Number.NEGATIVE_INFINITY

  constructor(elapsed: () => number, warn: (clockSkew: number) => void) {
    this.#elapsed = elapsed
    this.#warn = warn
  }

  /** `clockSkew` in milliseconds; null: not measured. Warns at most once a minute. */
  see(clockSkew: number | null): void {
    if (clockSkew === null) return
    this.#beginMinute()
    this.#largest = Math.max(this.#largest, clockSkew)
    if (clockSkew <= warnFrom || this.#elapsed() - this.#warned < period) return
    this.#warned = this.#elapsed()
    this.#warn(clockSkew)
  }

  /** The maximum of the last one to two minutes, in milliseconds; 0 when the stream is not ahead. */
  get clockSkew(): number {
    this.#beginMinute()
    return Math.max(this.#largest, this.#before)
  }

  #beginMinute(): void {
    const age = this.#elapsed() - this.#began
    if (age < period) return
    this.#before = age < 2 * period ? this.#largest : 0
    this.#largest = 0
    this.#began = this.#elapsed()
  }
}
