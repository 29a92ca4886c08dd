/** What waits for its organization's share, and what is refused beyond it. Whose it is, no figure says. */
import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { ShareExceeded } from '../kernel/budget.ts'

/** What requests hold of the process. */
export interface ShareStanding {
  readonly requests: number
  readonly bodyBytes: number
  readonly bodiesWaiting: number
  readonly answerBytes: number
  /** Changes that are not committed yet. */
  readonly pending: number
}

/** Counts what is refused beyond a share, and shows what is held. */
export function countShares(
  server: FastifyInstance,
  register: Registry,
  standing: () => ShareStanding,
): void {
  const registers = [register]
  const refusals = new Counter({
    name: 'deskwire_share_refusals_total',
    help: 'Requests refused beyond a share: what of, and whether the organization had its own or all was taken',
    labelNames: ['of', 'reason'],
    registers,
  })
  server.addHook('onError', (_request, _reply, error, done) => {
    if (error instanceof ShareExceeded) refusals.inc({ of: error.what, reason: error.reason })
    done()
  })
  const gauge = (name: string, help: string, read: (standing: ShareStanding) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(standing()))
      },
    })
  gauge(
    'deskwire_http_requests_under_way',
    'Requests under way, without those that wait for changes',
    (now) => now.requests,
  )
  gauge(
    'deskwire_http_body_bytes',
    'Bytes set aside for bodies of requests under way',
    (now) => now.bodyBytes,
  )
  gauge(
    'deskwire_http_bodies_waiting',
    'Requests whose body is not read yet for want of room',
    (now) => now.bodiesWaiting,
  )
  gauge(
    'deskwire_stream_changes_pending',
    "Changes that wait for their organization's turn to commit, or are being committed",
    (now) => now.pending,
  )
  gauge(
    'deskwire_http_answer_bytes',
    'Bytes of large answers that were not yet taken',
    (now) => now.answerBytes,
  )
}

/** Statements at the API's pool. */
export interface PoolStanding {
  readonly waiting: number
  readonly underWay: number
}

/** An observer that counts, and gauges that ask how it stands. */
export function createPoolMetrics(register: Registry, standing: () => PoolStanding) {
  const registers = [register]
  const waits = new Histogram({
    name: 'deskwire_statement_wait_seconds',
    help: "How long statements waited that found their organization's share of the connections in use",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20],
    registers,
  })
  new Gauge({
    name: 'deskwire_statements_waiting',
    help: 'Statements that wait for a connection',
    registers,
    collect() {
      this.set(standing().waiting)
    },
  })
  new Gauge({
    name: 'deskwire_statements_under_way',
    help: 'Statements of organizations that have a connection',
    registers,
    collect() {
      this.set(standing().underWay)
    },
  })
  return { waited: (milliseconds: number) => waits.observe(milliseconds / 1000) }
}
