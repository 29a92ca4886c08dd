/**
 * Endpoint queues in the database: how workers find, lease and complete due deliveries. One worker holds a queue at a
 * time, so that an endpoint's attempts are limited in one place, and no search reads the backlog of an endpoint that is
 * down.
 *
 * A queue is a row of `endpoint_queues`. Its `due_at` says when a worker must look at it: when its next delivery is due
 * or, while a worker holds it, when the lease ends. A commit sets it to now unless a worker holds it; that worker is
 * notified, and looks before it releases it.
 */
import { callFunction, fromOrganization, unlessBusy } from '../../db/call-function.ts'
import type { Database } from '../../db/fair-pool.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import { lockClockFunction } from '../../journal/functions.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { type DueQueue, type EndpointKey, type LeasedQueue, type Priority, priorities } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import { createClaim } from './claim.ts'
import { archiveAttemptsFunction, countDeliveriesFunction, createComplete } from './complete.ts'
import { wakeQueuesFunction } from './functions.ts'
import { sweepQueues, wakeAfterClockSetBack } from './sweep.ts'
import { failureIndexes } from './tally.ts'

export type EndpointQueues = ReturnType<typeof createEndpointQueues>

const { failedAtOnce } = deliveryTuning.disabling
const { foundAtOnce } = deliveryTuning.engine

/**
 * Times are in milliseconds since the Unix epoch. `traced`: claims also read the trace that each event was created in.
 */
export function createEndpointQueues(
  database: Database,
  tables: readonly StreamTable[],
  { traced = false } = {},
) {
  return {
    /** Up to `foundAtOnce` due queues of each open priority, those that have waited longest first. */
    async findDue(workerId: string, now: number, open: readonly Priority[]): Promise<readonly DueQueue[]> {
      const { rows } = await database.forSeveral.query<FoundQueue>({
        name: 'find_due_queues',
        text: searchStatement,
        values: [formatTimestamp(now), workerId, ...priorities.map((priority) => open.includes(priority))],
      })
      return rows.map(dueQueue)
    },

    /** The queues that this worker holds, whether one of its drains still runs or not. */
    async findHeld(workerId: string): Promise<readonly DueQueue[]> {
      const { rows } = await database.forSeveral.query<FoundQueue>(
        'select l.organization_id, l.webhook_id, l.priority from endpoint_queues l where l.worker_id = $1',
        [workerId],
      )
      return rows.map(dueQueue)
    },

    /**
     * Leases the queue or prolongs the lease, and reads up to `limit` due deliveries but those `known`; null when
     * another holds it, nothing is due, or the endpoint was deleted.
     */
    claim: createClaim(database, tables, { traced }),

    /** Records that from `now` on only this delivery is being sent; false when the lease is lost. */
    async isolate(
      { organizationId, webhookId, leaseId }: LeasedQueue,
      deliveryId: string,
      now: number,
    ): Promise<boolean> {
      const { rowCount } = await database.of(organizationId).query({
        name: 'isolate_delivery',
        text: isolateStatement,
        values: [organizationId, webhookId, leaseId, deliveryId, formatTimestamp(now)],
      })
      return rowCount === 1
    },

    complete: createComplete(database),

    /**
     * Whether this call disabled it; false when the reason is gone or its URL is no longer `tried`; 'busy' when its
     * clock row is locked.
     */
    async disable(
      { organizationId, webhookId }: EndpointKey,
      tried: string | null,
      reason: string,
      now: number,
      failingBefore: number,
    ): Promise<boolean | 'busy'> {
      const times = [formatTimestamp(now), formatTimestamp(failingBefore)]
      const values = [organizationId, webhookId, tried, reason, ...times] as const
      return unlessBusy(callFunction<boolean>(database.of(organizationId), disableFunction, values))
    },

    /**
     * Hides the queue from searches and commits while its endpoint is paused, or its organization suspended or served
     * elsewhere. A resumption makes it due again.
     */
    async hold({ organizationId, webhookId }: EndpointKey): Promise<void> {
      await database.of(organizationId).query(holdStatement, [organizationId, webhookId])
    },

    /**
     * Fails what is pending on a disabled endpoint, except pings; or on a paused one what was created
     * before `before`.
     */
    async failPending(
      { organizationId, webhookId }: EndpointKey,
      { code, message, before = null }: PendingFailure,
      now: number,
    ): Promise<void> {
      const values = [organizationId, webhookId, formatTimestamp(now), failureIndexes[code], code, message]
      const from = before === null ? null : formatTimestamp(before)
      for (let failed = failedAtOnce; failed === failedAtOnce; ) {
        const { rows } = await database.of(organizationId).query<{ failed: number }>({
          text: `select ${failPendingFunction.name}($1, $2, $3, $4, $5, $6, $7, ${failedAtOnce}) as failed ${fromOrganization}`,
          values: [...values, from],
        })
        failed = rows[0]?.failed ?? 0
      }
    },

    /**
     * Makes up to `limit` deliveries that wait for a retry due now, the soonest first. Returns how many; null unless it
     * is active.
     */
    async retryNow(
      { organizationId, webhookId }: EndpointKey,
      now: number,
      limit: number,
    ): Promise<number | null> {
      const { rows } = await database.of(organizationId).query<{ retried: number | null }>({
        text: `select ${retryNowFunction.name}($1, $2, $3, $4) as retried ${fromOrganization}`,
        values: [organizationId, webhookId, formatTimestamp(now), limit],
      })
      return rows[0]?.retried ?? null
    },

    sweep: (now: number, longestLease: number) => sweepQueues(database.forSeveral, now, longestLease),
    wakeAfterClockSetBack: wakeAfterClockSetBack(database.forSeveral),
  }
}

export interface PendingFailure {
  readonly code: 'endpoint_disabled' | 'paused_too_long'
  readonly message: string
  /** Milliseconds since the Unix epoch; null: the endpoint is disabled. */
  readonly before?: number | null
}

/** What becomes of pending deliveries when their endpoint is disabled. */
export const failureOf = (reason: string): PendingFailure => ({
  code: 'endpoint_disabled',
  message: `the endpoint was disabled: ${reason}`,
})

interface FoundQueue {
  readonly organization_id: string
  readonly webhook_id: string
  readonly priority: number
}

function dueQueue(row: FoundQueue): DueQueue {
  return {
    organizationId: row.organization_id,
    webhookId: row.webhook_id,
    priority: priorities[row.priority] ?? 'responsive',
  }
}

export const searchStatement: string = fillTemplate(sql('./search-queues.sql'), {
  responsive: String(foundAtOnce.responsive),
  unproven: String(foundAtOnce.unproven),
  unresponsive: String(foundAtOnce.unresponsive),
})
const isolateStatement = sql('./isolate-delivery.sql')
const holdStatement = sql('./hold-queue.sql')

export const disableFunction: SchemaFunction = schemaObject(sql('./disable-webhook.sql'), [lockClockFunction])

export const failPendingFunction: SchemaFunction = schemaObject(sql('./fail-pending.sql'), [
  archiveAttemptsFunction,
  countDeliveriesFunction,
])

export const retryNowFunction: SchemaFunction = schemaObject(sql('./retry-now.sql'), [wakeQueuesFunction])

function sql(file: string): string {
  return readSql(import.meta.url, file)
}
