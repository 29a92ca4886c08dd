/** What the API counts of its requests and of its commits. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Histogram, Registry } from 'prom-client'
import { stopwatch } from '../kernel/timestamps.ts'
import { gauge, histogram } from './instruments.ts'

/** Step `onResponse`: times every request by method, class of status, and route as it is declared. */
export function timeRequests(register: Registry) {
  const durations = histogram(register, 'deskwire_http_request_duration_seconds')
  // The library looks a series up by its sorted labels each time.
  const series = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>()
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // What no route answers, and methods that a route refuses, are one series each.
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

/** Anybody can send any method, but each of these is one of few. */
const commonMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'])

/** What is told of a call of the commit function: how long it took, what it carried, how far ahead it was. */
interface CommitCalled {
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
  const durations = histogram(register, 'deskwire_stream_commit_duration_seconds')
  const sizes = histogram(register, 'deskwire_stream_commit_group_size')
  gauge(register, 'deskwire_stream_lead_seconds', (it) => it.set(watch.clockSkew / 1000))
  return ({ milliseconds, units, clockSkew }) => {
    watch.see(clockSkew)
    durations.observe(milliseconds / 1000)
    sizes.observe(units)
  }
}

/** A skew that is worth a warning, in milliseconds: past what clocks that follow a time server differ by. */
export const worthTelling = 5_000

/** How long a skew is remembered, and how long nobody is warned again, in milliseconds. */
const period = 60_000

/**
 * Remembers how far the stream's clock was ahead of the database's, the largest of the last minute, and tells of it in time
 * (decision 1). Time is what `elapsed` says: milliseconds that only grow.
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

  /** A commit's clock skew, in milliseconds; null where nobody asked for it. Warns once a minute at most. */
  see(clockSkew: number | null): void {
    if (clockSkew === null) return
    this.#turn()
    this.#largest = Math.max(this.#largest, clockSkew)
    if (clockSkew <= worthTelling || this.#elapsed() - this.#warned < period) return
    this.#warned = this.#elapsed()
    this.#warn(clockSkew)
  }

  /** The largest of the last minute, up to two: in milliseconds, 0 when the stream is not ahead. */
  get clockSkew(): number {
    this.#turn()
    return Math.max(this.#largest, this.#before)
  }

  /** Begins another minute when one is over. */
  #turn(): void {
    const age = this.#elapsed() - this.#began
    if (age < period) return
    this.#before = age < 2 * period ? this.#largest : 0
    this.#largest = 0
    this.#began = this.#elapsed()
  }
}
