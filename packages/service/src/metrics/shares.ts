/** What waits for its organization's share, and what is refused beyond it. Whose it is, no figure says. */
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { ShareExceeded } from '../kernel/budget.ts'
import { counter, gauge, histogram } from './instruments.ts'

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
  const refusals = counter(register, 'deskwire_share_refusals_total')
  server.addHook('onError', (_request, _reply, error, done) => {
    if (error instanceof ShareExceeded) refusals.inc({ of: error.what, reason: error.reason })
    done()
  })
  gauge(register, 'deskwire_http_requests_under_way', (it) => it.set(standing().requests))
  gauge(register, 'deskwire_http_body_bytes', (it) => it.set(standing().bodyBytes))
  gauge(register, 'deskwire_http_bodies_waiting', (it) => it.set(standing().bodiesWaiting))
  gauge(register, 'deskwire_stream_changes_pending', (it) => it.set(standing().pending))
  gauge(register, 'deskwire_http_answer_bytes', (it) => it.set(standing().answerBytes))
}

/** Statements at the API's pool. */
export interface PoolStanding {
  readonly waiting: number
  readonly underWay: number
}

/** An observer that counts, and gauges that ask how it stands. */
export function createPoolMetrics(register: Registry, standing: () => PoolStanding) {
  const waits = histogram(register, 'deskwire_statement_wait_seconds')
  gauge(register, 'deskwire_statements_waiting', (it) => it.set(standing().waiting))
  gauge(register, 'deskwire_statements_under_way', (it) => it.set(standing().underWay))
  return { waited: (milliseconds: number) => waits.observe(milliseconds / 1000) }
}

/** Gauges of the connections of these pools, by their names. */
export function createConnectionMetrics(register: Registry, pools: Readonly<Record<string, Pool>>): void {
  const each = Object.entries(pools)
  gauge(register, 'deskwire_database_connections', (it) => {
    for (const [pool, { totalCount, idleCount }] of each) {
      it.set({ pool, state: 'idle' }, idleCount)
      it.set({ pool, state: 'used' }, totalCount - idleCount)
    }
  })
  gauge(register, 'deskwire_database_connections_max', (it) => {
    for (const [pool, { options }] of each) it.set({ pool }, options.max)
  })
  gauge(register, 'deskwire_database_connections_waiting', (it) => {
    for (const [pool, { waitingCount }] of each) it.set({ pool }, waitingCount)
  })
}
