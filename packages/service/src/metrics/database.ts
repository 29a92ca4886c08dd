/**
 * Metrics of connections, and those read from the database: backlog, storage, upgrades. The latter are cached, however
 * often they are scraped.
 */
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { countOfStatus } from '../delivery/endpoints-table.ts'
import type { DeliveryObserver } from '../delivery/model.ts'
import { suspendedOrganizations } from '../delivery/queue/sweep.ts'
import { cached } from '../kernel/shared-work.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { countedAtMost, type NameOf } from './catalogue.ts'
import { counter, gauge, histogram } from './registry.ts'

/** What `read` returns; null while it fails. A value is reused for `goodFor` milliseconds, a failure for a second. */
function known<V>(clock: Clock, read: () => Promise<V>, goodFor = 15_000): () => Promise<V | null> {
  const value = cached(read, { clock, goodFor, failureGoodFor: 1_000 })
  return () => value().catch(() => null)
}

interface Backlog {
  readonly due: number
  readonly oldest: Date | null
  readonly waiting: number
  readonly leased: number
  readonly active: number
  readonly disabled: number
}

export function createBacklogMetrics(register: Registry, pool: Pool, clock: Clock): void {
  const read = known(clock, () => readBacklog(pool, clock))
  show('deskwire_deliveries_due', ({ due }) => due)
  show('deskwire_delivery_oldest_due_seconds', ({ oldest }) =>
    oldest === null ? 0 : Math.max(0, (clock.now() - oldest.getTime()) / 1000),
  )
  show('deskwire_delivery_queues_due', ({ waiting }) => waiting)
  show('deskwire_delivery_queues_leased', ({ leased }) => leased)
  show('deskwire_webhooks_active', ({ active }) => active)
  show('deskwire_webhooks_disabled', ({ disabled }) => disabled)

  function show(name: NameOf<'gauge'>, value: (backlog: Backlog) => number): void {
    gauge(register, name, async (it) => {
      const backlog = await read()
      if (backlog === null) it.remove()
      else it.set(value(backlog))
    })
  }
}

/**
 * Over all organizations except suspended ones, and all endpoints except paused ones. Deliveries of a deleted endpoint
 * count until maintenance removes them.
 */
async function readBacklog(pool: Pool, clock: Clock): Promise<Backlog> {
  const { rows } = await pool.query<Backlog>({
    name: 'delivery_standing',
    text: `select
        (select count(*)::int from (select 1 from deliveries d
          where d.log_day = 'infinity' and d.next_attempt_at <= $1
            and d.organization_id <> all(${suspendedOrganizations})
            and not exists (select 1 from erasures e
              where e.organization_id = d.organization_id and e.subject_id = d.webhook_id)
            and not exists (select 1 from endpoint_queues l where l.organization_id = d.organization_id
              and l.webhook_id = d.webhook_id and l.due_at = 'infinity')
          limit ${countedAtMost}) c) as due,
        f.oldest, f.waiting, f.leased,
        ${countOfStatus('active')} as active,
        ${countOfStatus('disabled')} as disabled
      from (select min(n.due) as oldest, count(n.due)::int as waiting, count(l.lease_id)::int as leased
        from endpoint_queues l left join lateral (select d.next_attempt_at as due from deliveries d
          where d.organization_id = l.organization_id and d.webhook_id = l.webhook_id and d.log_day = 'infinity'
            and d.next_attempt_at <= $1
          order by d.next_attempt_at, d.id limit 1) n on l.organization_id <> all(${suspendedOrganizations})
            and l.due_at is distinct from 'infinity') f`,
    values: [formatTimestamp(clock.now())],
  })
  const [backlog] = rows
  if (backlog === undefined) throw new Error('the backlog of deliveries has no row')
  return backlog
}

const measures = ['rows', 'bytes', 'removed', 'log'] as const

/** The largest by each measure, descending. */
type Largest = { readonly [Measure in (typeof measures)[number]]: readonly number[] }

/**
 * Storage of the largest organizations, by rank, as no series may name one. 0 for missing ranks; no values while `read`
 * fails.
 */
export function createStorageMetrics(
  register: Registry,
  clock: Clock,
  { ranks, read }: { readonly ranks: number; readonly read: () => Promise<Largest> },
): void {
  const largest = known(clock, read, 60_000)
  for (const measure of measures) {
    gauge(register, `deskwire_organization_${measure}_largest`, async (it) => {
      const found = await largest()
      it.reset()
      if (found === null) return
      for (let rank = 1; rank <= ranks; rank++) it.set({ rank }, found[measure][rank - 1] ?? 0)
    })
  }
}

/** Rows that show an earlier version of their kind, up to `countedAtMost`; no values while `read` fails. */
export function createOutdatedMetrics(
  register: Registry,
  clock: Clock,
  read: () => Promise<readonly { readonly kind: string; readonly rows: number }[]>,
): void {
  const outdated = known(clock, read)
  gauge(register, 'deskwire_rows_outdated', async (it) => {
    const found = await outdated()
    it.reset()
    for (const { kind, rows } of found ?? []) it.set({ kind }, rows)
  })
}

/** Missing partitions of the log; no value while `read` fails. */
export function createLogMetrics(register: Registry, clock: Clock, read: () => Promise<number>): void {
  const counted = known(clock, read)
  gauge(register, 'deskwire_log_partitions_missing', async (it) => {
    const missing = await counted()
    if (missing === null) it.remove()
    else it.set(missing)
  })
}

/** Returns what notes each step of maintenance. */
export function createMaintenanceMetrics(register: Registry): (step: string, hasFailed: boolean) => void {
  const latest = new Map<string, boolean>()
  gauge(register, 'deskwire_maintenance_failed', (it) => {
    for (const [step, hasFailed] of latest) it.set({ step }, hasFailed ? 1 : 0)
  })
  return (step, hasFailed) => latest.set(step, hasFailed)
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

export function showInFlight(register: Registry, inFlight: () => number): void {
  gauge(register, 'deskwire_delivery_attempts_in_flight', (it) => it.set(inFlight()))
}

export function createDeliveryMetrics(register: Registry): DeliveryObserver {
  const attempts = counter(register, 'deskwire_delivery_attempts_total')
  const durations = histogram(register, 'deskwire_delivery_attempt_duration_seconds')
  const waits = histogram(register, 'deskwire_delivery_first_attempt_delay_seconds')
  const disabled = counter(register, 'deskwire_webhooks_disabled_total')
  // Each series is looked up once instead of for every delivery.
  const succeeded = durations.labels('succeeded')
  const failed = durations.labels('failed')
  const firsts = waits.labels({})
  const counts = new Map<string, ReturnType<typeof attempts.labels>>()
  return {
    attempted({ outcome, durationMs, waitedMs }) {
      const count = counts.get(outcome) ?? attempts.labels(outcome)
      counts.set(outcome, count)
      count.inc()
      const took = outcome === 'succeeded' ? succeeded : failed
      took.observe(durationMs / 1000)
      if (waitedMs !== null) firsts.observe(waitedMs / 1000)
    },
    disabled: (reason) => disabled.inc({ reason }),
  }
}
