/**
 * Endpoint queues in the database: how workers find, lease and complete due deliveries. One worker holds a queue at a time, so that an
 * endpoint's attempts are limited in one place, and no search reads the backlog of an endpoint that is down.
 *
 * A queue is a row of `endpoint_queues`. Its `due_at` says when a worker must look at it: when its next delivery is due or, while a worker holds it,
 * when the lease ends. A commit sets it to now, unless the holder looks again by itself.
 */
import { callFunction, fromOrganization, unlessBusy } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { lockClock } from '../journal/sql-fragments.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { disableEndpoint, holdEndpoint } from '../webhooks/table/endpoints.ts'
import { createClaim } from './claim.ts'
import { archivePreviousAttempts, createComplete, logDay } from './complete.ts'
import { reachingDisabled } from './control.ts'
import { type DueQueue, type EndpointKey, type LeasedQueue, type Priority, priorities } from './model.ts'
import { type QueuePosition, sweepQueues, wakeAfterClockSetBack } from './sweep.ts'
import { countTally, tallyOfDisabled, tallyVariables } from './tally.ts'
import { deliveryTuning } from './tuning.ts'
import { wakeQueuesFunction } from './wake-queues.ts'

export type EndpointQueues = ReturnType<typeof createEndpointQueues>

/** The default of DESKWIRE_LOG_RETENTION. */
const thirtyDays = 30 * 24 * 60 * 60 * 1000
const { failedAtOnce } = deliveryTuning.disabling
const { foundAtOnce } = deliveryTuning.engine

/**
 * Times are in milliseconds since the Unix epoch. `traced`: claims also read the trace that each event was created in. `retention`: how far
 * back the log goes, in milliseconds.
 */
export function createEndpointQueues(
  database: Database,
  tables: readonly StreamTable[],
  { traced = false, retention = thirtyDays } = {},
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

    /** Leases the queue or prolongs the lease, and reads up to `limit` due deliveries but those `known`; null when another holds it. */
    claim: createClaim(database, tables, { traced, retention }),

    /** Records that from `now` on only this delivery is being sent; false when the lease is lost. */
    async isolate(
      { organizationId, webhookId, leaseId }: LeasedQueue,
      deliveryId: string,
      now: number,
    ): Promise<boolean> {
      // Commits do not wake the worker meanwhile: it sends nothing else.
      const { rowCount } = await database.of(organizationId).query({
        name: 'isolate_delivery',
        text: `update endpoint_queues set alone_id = $4, alone_since = $5, listening = false
                 where organization_id = $1 and webhook_id = $2 and lease_id = $3`,
        values: [organizationId, webhookId, leaseId, deliveryId, formatTimestamp(now)],
      })
      return rowCount === 1
    },

    complete: createComplete(database),

    /** Whether this call disabled it; false when the reason is gone or its URL is no longer `tried`; 'busy' when its clock row is locked. */
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

    /** Hides the queue from searches while its organization is suspended or served elsewhere. A resumption makes it due again. */
    async holdSuspended({ organizationId, webhookId }: EndpointKey): Promise<void> {
      // Locks the organization's row, so that a resumption comes wholly before or wholly after this.
      await database.of(organizationId).query({
        text: `with suspended as (select o.organization_id from organizations o
                   where o.organization_id = $1 and (o.suspended_at is not null or o.away is not null) for share)
                 update endpoint_queues set due_at = null
                   where organization_id = $1 and webhook_id = $2 and lease_id is null
                     and exists (select 1 from suspended)`,
        values: [organizationId, webhookId],
      })
    },

    /** Fails what is pending on a disabled endpoint, except what reaches those too. */
    async failPending(
      { organizationId, webhookId }: EndpointKey,
      reason: string,
      now: number,
    ): Promise<void> {
      for (let failed = failedAtOnce; failed === failedAtOnce; ) {
        const { rows } = await database.of(organizationId).query<{ failed: number }>({
          text: `select ${failPendingFunction.name}($1, $2, $3, $4, ${failedAtOnce}) as failed ${fromOrganization}`,
          values: [organizationId, webhookId, formatTimestamp(now), reason],
        })
        failed = rows[0]?.failed ?? 0
      }
    },

    /** Makes up to `limit` deliveries that wait for a retry due now, the soonest first. Returns how many; null unless it is active. */
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
    wakeAfterClockSetBack: (now: number, position: QueuePosition | null) =>
      wakeAfterClockSetBack(database.forSeveral, now, position),
  }
}

interface FoundQueue {
  readonly organization_id: string
  readonly webhook_id: string
  readonly priority: number
}

function dueQueue(row: FoundQueue): DueQueue {
  return {
    organizationId: row.organization_id,
    webhookId: row.webhook_id,
    priority: priorities[row.priority] ?? 'healthy',
  }
}

/** The limits are part of the text: given as parameters, PostgreSQL would plan the statement again each time. */
export const searchStatement: string = priorities
  .map(
    (priority, n) => `(select l.organization_id, l.webhook_id, l.priority from endpoint_queues l
      where $${n + 3}::boolean and l.priority = ${n} and l.due_at <= $1
        and (l.lease_until is null or l.lease_until <= $1 or l.worker_id = $2)
      order by l.due_at limit ${foundAtOnce[priority]})`,
  )
  .join('\n    union all ')

/** SQL that makes the queue of p_webhook_id due. */
export const wakeQueue: string = wakeQueues('array[p_webhook_id]')

/** The same of the queues of `webhookIds`, an array. */
export function wakeQueues(webhookIds: string): string {
  return `perform ${wakeQueuesFunction.name}(p_organization_id, ${webhookIds}, p_now);`
}

/** SQL: a manual retry and a recovery start a delivery's schedule over, with its stored payload. */
export const restartSchedule = `status = 'pending', payload = 'stored', attempts_before = attempt_count,
      max_attempts = attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity'`

/** Disables an endpoint if its worker's reason still holds, under the clock row, so that no commit creates deliveries to it meanwhile. */
export const disableFunction: SchemaFunction = schemaFunction(
  'disable_webhook',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_url text, p_reason text, p_now timestamptz, p_failing_before timestamptz',
    returns: 'boolean',
  },
  `begin
  ${lockClock}
  ${disableEndpoint}
  if not found then
    return false;
  end if;
  update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = p_webhook_id;
  return true;
end;`,
)

/**
 * Fails up to p_limit pending deliveries of a disabled endpoint, except pings, and returns how many. It locks the endpoint, as enabling it
 * keeps what is pending, and the queue, as a completion writes the same rows.
 */
export const failPendingFunction: SchemaFunction = schemaFunction(
  'fail_pending',
  {
    arguments: 'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_reason text, p_limit int',
    returns: 'int',
  },
  `declare
  v_ids uuid[];
  ${tallyVariables}
begin
  ${holdEndpoint('disabled')}
  if not found then
    return 0;
  end if;
  perform 1 from endpoint_queues l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id for update;
  select array_agg(x.id) into v_ids from (
    select d.id from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and d.event_type not in (${reachingDisabled}) limit p_limit) x;
  ${archivePreviousAttempts('v_ids')}
  update deliveries d set status = 'failed', next_attempt_at = null, updated_at = greatest(d.updated_at, p_now),
      last_error_code = 'endpoint_disabled', last_error_message = 'the endpoint was disabled: ' || p_reason,
      log_day = ${logDay('d')}
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_ids)
      and d.log_day = 'infinity';
  if v_ids is not null then
    ${countTally(tallyOfDisabled('cardinality(v_ids)'))}
  end if;
  -- Clear the isolation: this delivery is no longer a suspect.
  update endpoint_queues set alone_id = null, alone_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id and alone_id = any(v_ids);
  return coalesce(cardinality(v_ids), 0);
end;`,
)

/** Makes up to p_limit retries due now and returns how many; null unless active. Locks the queue, as a completion computes its due time. */
export const retryNowFunction: SchemaFunction = schemaFunction(
  'retry_now',
  {
    arguments: 'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_limit int',
    returns: 'int',
  },
  `declare
  v_retried int;
begin
  ${holdEndpoint('active')}
  if not found then
    return null;
  end if;
  ${wakeQueue}
  update deliveries d set next_attempt_at = p_now, updated_at = greatest(millisecond_after(d.updated_at), p_now)
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and d.id in (select x.id from deliveries x where x.organization_id = p_organization_id
        and x.webhook_id = p_webhook_id and x.log_day = 'infinity' and x.next_attempt_at > p_now
        order by x.next_attempt_at limit p_limit);
  get diagnostics v_retried = row_count;
  return v_retried;
end;`,
)
