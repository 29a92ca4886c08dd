/**
 * What has to happen in time though nobody asks: payloads and kept answers of removed objects are erased
 * (specification 4.9), those of objects that referred to them lose the reference, answers kept for idempotency are
 * forgotten, weeks of the log are made ahead, and those that it shows no more are dropped; who has come near to what
 * it may store is told of. Every step can be repeated and done by any number of processes.
 */

import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { keptForMilliseconds } from './http/idempotency.ts'
import { reference } from './journal/body.ts'
import { noLimits, type StorageLimits } from './journal/storage-limits.ts'
import type { Clock } from './kernel/clock.ts'
import { loggable } from './kernel/loggable.ts'
import { periodic } from './kernel/periodic.ts'
import { formatTimestamp } from './kernel/timestamps.ts'
import { dropLogWeeks, makeLogWeeks } from './log-weeks.ts'
import { nearLimits } from './storage.ts'
import { removeOrphans, removeRecoveries } from './webhooks/clean-up.ts'

/** Ten minutes from the end of a run to the next: well within the day that an erasure may take. */
const interval = 10 * 60 * 1000
/** A stop waits no longer for the statement under way, in milliseconds; it is ended with the pool. */
const stopWithin = 5_000
/** Rows a statement touches at most, so that none holds locks for long. */
const step = 500

export interface Maintenance {
  /** Does all that is due now. */
  run(): Promise<void>
  /** Runs it again and again until stopped, one run at a time. */
  start(): void
  /** Ends a run under way between two of its statements, and waits 5 s for it at most. */
  stop(): Promise<void>
}

export function createMaintenance(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  /** How far back the delivery log goes, in milliseconds. */
  readonly logRetention: number
  /** What an organization may store; as much as it likes unless told. */
  readonly storage?: StorageLimits
}): Maintenance {
  const { pool, clock, log, logRetention, storage = noLimits } = options

  async function runOn(pool: Pool): Promise<void> {
    // First: nothing else here is waited for by commits.
    await makeLogWeeks(pool, clock.now())
    while ((await eraseRemoved(pool)) === step);
    while ((await detachStored(pool)) === step);
    while ((await forgetAnswers(pool, clock)) === step);
    await removeOrphans(pool)
    await removeRecoveries(pool, clock.now() - logRetention)
    await dropLogWeeks(pool, clock.now(), logRetention)
    for (const { organizationId, rows, bytes } of await nearLimits(pool, storage)) {
      const used = { rows, maxRows: storage.rows, bytes, maxBytes: storage.bytes }
      log.warn({ organizationId, ...used }, 'an organization has 80 % or more of what it may store')
    }
  }

  const loop = periodic({
    every: interval,
    stopWithin,
    run: (signal) => runOn(untilAborted(pool, signal)),
    onFailure: (error) => log.warn({ err: loggable(error) }, 'maintenance failed; it will be tried again'),
  })
  return { run: () => runOn(pool), start: loop.start, stop: loop.stop }
}

/** The same pool, on which nothing more is begun after the signal: every step can end between any two statements. */
function untilAborted(pool: Pool, signal: AbortSignal): Pool {
  const unlessAborted =
    (method: 'query' | 'connect') =>
    (...call: unknown[]) => {
      signal.throwIfAborted()
      return Reflect.apply(pool[method], pool, call)
    }
  return Object.assign(Object.create(pool) as Pool, {
    query: unlessAborted('query'),
    connect: unlessAborted('connect'),
  })
}

/** Removal events keep their record, which says no more than that the object is gone. */
async function eraseRemoved(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ organization_id: string; subject_id: string; removed_at: Date }>(
    `select e.organization_id, e.subject_id, e.removed_at from erasures e limit ${step}`,
  )
  const organizations = Map.groupBy(rows, (row) => row.organization_id)
  for (const [organizationId, due] of organizations) {
    const subjects = due.map((row) => row.subject_id)
    await pool.query(
      `update events set body = null where organization_id = $1 and subject_id = any($2)
         and body is not null and type not like '%.deleted'`,
      [organizationId, subjects],
    )
    await pool.query(
      'update idempotency_keys set body = null where organization_id = $1 and subject_id = any($2) and body is not null',
      [organizationId, subjects],
    )
    await pool.query('delete from erasures where organization_id = $1 and subject_id = any($2)', [
      organizationId,
      subjects,
    ])
  }
  return rows.length
}

/** Payloads and answers that are kept of objects which stay lose the id that a removal took from the objects themselves. */
async function detachStored(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{
    organization_id: string
    subject_id: string
    removed_id: string
  }>(`select d.organization_id, d.subject_id, d.removed_id from detachments d limit ${step}`)
  for (const [organizationId, due] of Map.groupBy(rows, (row) => row.organization_id)) {
    const values = [organizationId, due.map((row) => row.subject_id), due.map((row) => row.removed_id)]
    for (const table of ['events', 'idempotency_keys']) {
      await pool.query(
        `update ${table} t set body = ${stored.removed}
           from unnest($2::uuid[], $3::uuid[]) as d(subject_id, removed_id)
           where t.organization_id = $1 and t.subject_id = d.subject_id and ${stored.holds}`,
        values,
      )
    }
    await pool.query(
      `delete from detachments t using unnest($2::uuid[], $3::uuid[]) as d(subject_id, removed_id)
         where t.organization_id = $1 and t.subject_id = d.subject_id and t.removed_id = d.removed_id`,
      values,
    )
  }
  return rows.length
}

const stored = reference('t.body', 'd.removed_id')

async function forgetAnswers(pool: Pool, clock: Clock): Promise<number> {
  const before = formatTimestamp(clock.now() - keptForMilliseconds)
  const { rows } = await pool.query<{ organization_id: string }>(
    `select k.organization_id from idempotency_keys k where k.created_at <= $1 limit ${step}`,
    [before],
  )
  for (const organizationId of new Set(rows.map((row) => row.organization_id))) {
    await pool.query('delete from idempotency_keys where organization_id = $1 and created_at <= $2', [
      organizationId,
      before,
    ])
  }
  return rows.length
}
