/** Metrics of admitted and refused requests and statements. No metric names an organization. */
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { LimitExceeded } from '../admission/fair-queue.ts'
import { counter, gauge, histogram } from './instruments.ts'

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

interface PoolUsage {
  readonly waiting: number
  readonly underWay: number
}

/** Adds the gauges, and returns an observer of waiting times. */
export function createPoolMetrics(register: Registry, usage: () => PoolUsage) {
  const waits = histogram(register, 'deskwire_statement_wait_seconds')
  gauge(register, 'deskwire_statements_waiting', (it) => it.set(usage().waiting))
  gauge(register, 'deskwire_statements_under_way', (it) => it.set(usage().underWay))
  return { waited: (milliseconds: number) => waits.observe(milliseconds / 1000) }
}

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
