/** Recoveries make missed deliveries pending again, in pieces, each for a limited time, so that a long one does not block others. */
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { fromOrganization, unlessBusy } from '../../db/call-function.ts'
import { type SchemaFunction, schemaFunction } from '../../db/migration.ts'
import { restartSchedule, wakeQueue } from '../../delivery/endpoint-queues.ts'
import type { EndpointKey, JobServices } from '../../delivery/model.ts'
import { conditionsHold, insertDeliveries } from '../../delivery/new-deliveries.ts'
import { suspendedOrganizations } from '../../delivery/sweep.ts'
import { deliveryTuning } from '../../delivery/tuning.ts'
import { lockClock } from '../../journal/sql-fragments.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { type JobLoop, type JobOutcome, jobLoop } from '../../kernel/job-loop.ts'
import { createKeyedQueue } from '../../kernel/keyed-queue.ts'
import { loggable } from '../../kernel/loggable.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { readSubscription } from '../table/endpoints.ts'

const { leaseFor, piecesInARow, eventsAPiece, backlogAtMost, ...limits } = deliveryTuning.recoveries

export function createRecoverer(services: JobServices & { readonly recoveries: Recoveries }): JobLoop {
  const { recoveries, clock, log, onDeliveries, exclusiveTasks = createKeyedQueue() } = services
  return jobLoop<RecoveryKey>({
    ...limits,
    findDue: (limit, except) => recoveries.findDue(clock.now(), limit, except),
    run,
    onFailure(error, recovery) {
      const err = loggable(error)
      if (recovery === null) log.warn({ err }, 'could not look for recoveries; trying again')
      // The lease expires, and the recovery is found again.
      else log.warn({ ...recovery, err }, 'a recovery was interrupted; it will go on')
    },
  })

  /** Runs its pieces until it is done or waits, or this worker stops. */
  async function run(recovery: RecoveryKey, stopping: AbortSignal): Promise<JobOutcome> {
    const leaseId = randomUUID()
    if (!(await recoveries.claim(recovery, leaseId, clock.now(), clock.now() + leaseFor))) return 'done'
    let came: Piece = 'more'
    for (let pieces = 0; came === 'more' && pieces < piecesInARow && !stopping.aborted; pieces++) {
      const now = clock.now()
      came = await exclusiveTasks.run(recovery.organizationId, () =>
        recoveries.piece(recovery, leaseId, now, now + leaseFor),
      )
      if (came === 'more' || came === 'done') onDeliveries()
    }
    if (came === 'more' || came === 'busy') await recoveries.release(recovery, leaseId)
    return came === 'busy' ? came : 'done'
  }
}

interface RecoveryKey extends EndpointKey {
  readonly recoveryId: string
}

/** The result of a piece; see the function. 'busy': the organization's clock row was locked, and nothing was done. */
type Piece = 'more' | 'done' | 'waiting' | 'disabled' | 'lost' | 'busy'

type Recoveries = ReturnType<typeof createRecoveries>

/** `attempts`: maximum attempts of a delivery. */
export function createRecoveries(pool: Pool, attempts: number, tables: readonly StreamTable[]) {
  const recoverPiece = recoverPieceFunction(tables).name
  return {
    /** Unclaimed recoveries with a piece due, longest due first, except those of the organizations `except`. */
    async findDue(
      now: number,
      limit: number,
      except: readonly string[] = [],
    ): Promise<readonly RecoveryKey[]> {
      const { rows } = await pool.query<{ organization_id: string; webhook_id: string; id: string }>({
        name: 'find_due_recoveries',
        text: `select r.organization_id, r.webhook_id, r.id from recoveries r
               where r.due_at <= $1 and (r.lease_until is null or r.lease_until <= $1)
                 and r.organization_id <> all(${suspendedOrganizations})
                 and r.organization_id <> all($2) order by r.due_at limit $3`,
        values: [formatTimestamp(now), except, limit],
      })
      return rows.map((row) => ({
        organizationId: row.organization_id,
        webhookId: row.webhook_id,
        recoveryId: row.id,
      }))
    },

    async claim(
      { organizationId, webhookId, recoveryId }: RecoveryKey,
      leaseId: string,
      now: number,
      leaseUntil: number,
    ): Promise<boolean> {
      const { rowCount } = await pool.query(
        `update recoveries set lease_id = $4, lease_until = $6
           where organization_id = $1 and webhook_id = $2 and id = $3 and due_at <= $5
             and (lease_until is null or lease_until <= $5)`,
        [organizationId, webhookId, recoveryId, leaseId, formatTimestamp(now), formatTimestamp(leaseUntil)],
      )
      return rowCount === 1
    },

    async piece(
      { organizationId, webhookId, recoveryId }: RecoveryKey,
      leaseId: string,
      now: number,
      leaseUntil: number,
    ): Promise<Piece> {
      const called = pool.query<{ came: Piece }>({
        name: recoverPiece,
        text: `select ${recoverPiece}($1, $2, $3, $4, $5, $6, ${eventsAPiece}, ${backlogAtMost}, $7) as came
                 ${fromOrganization}`,
        values: [
          organizationId,
          webhookId,
          recoveryId,
          leaseId,
          formatTimestamp(now),
          formatTimestamp(leaseUntil),
          attempts,
        ],
      })
      const answer = await unlessBusy(called)
      return answer === 'busy' ? answer : (answer.rows[0]?.came ?? 'lost')
    },

    async release({ organizationId, webhookId, recoveryId }: RecoveryKey, leaseId: string): Promise<void> {
      await pool.query(
        `update recoveries set lease_id = null, lease_until = null
           where organization_id = $1 and webhook_id = $2 and id = $3 and lease_id = $4`,
        [organizationId, webhookId, recoveryId, leaseId],
      )
    },
  }
}

/**
 * Reads the next p_events events of a recovery's window in commit order. For the types that the endpoint subscribes to now, it restarts
 * failed deliveries, with their stored payloads, and creates missing and skipped ones if the endpoint's present conditions hold. Pending
 * ones are left, and succeeded ones unless the recovery includes them: then a new delivery is created.
 *
 * The position moves in the same transaction, so a piece is done once. The clock row keeps other recoveries of the endpoint, retries and
 * disabling out; a completion may come between, and makes no failed delivery of one that this changes.
 *
 * Returns 'more', or with the lease released: 'done'; 'waiting' while p_backlog deliveries are due at the endpoint, so that new events do
 * not wait behind all of the past, or while deliveries of a large commit in the window are still to be created; 'disabled', to be tried
 * again in a minute; 'lost' when the recovery is another worker's or gone.
 */
export const recoverPieceFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaFunction(
    'recover_piece',
    {
      arguments:
        'p_organization_id uuid, p_webhook_id uuid, p_recovery_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz, p_events int, p_backlog int, p_attempts int',
      returns: 'text',
    },
    `declare
  v_position uuid;
  v_end uuid;
  v_waits boolean;
  v_again boolean;
  v_types text[];
  v_conditions jsonb;
  v_own_key text;
  v_since date;
  v_seen int;
  v_events uuid[];
  v_known uuid[];
  v_failed uuid[];
  v_retried int := 0;
  v_created int := 0;
  v_soon timestamptz := p_now + interval '250 milliseconds';
  v_later timestamptz := p_now + interval '1 minute';
begin
  ${lockClock}
  select r.position, first_uuid_v7(r.until + interval '1 millisecond'), exists (select 1 from fan_outs f
        where f.organization_id = p_organization_id and f.webhook_id = p_webhook_id and f.stamp between r.since and r.until),
        r.include_succeeded
      into v_position, v_end, v_waits, v_again from recoveries r
    where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.id = p_recovery_id
      and r.lease_id = p_lease_id;
  if not found then
    return 'lost';
  end if;

  ${readSubscription}
  if not found then
    update recoveries set due_at = v_later, lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'disabled';
  end if;
  if not v_waits then
    perform 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and d.next_attempt_at <= p_now offset p_backlog - 1 limit 1;
    v_waits := found;
  end if;
  if v_waits then
    update recoveries set due_at = v_soon, lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'waiting';
  end if;

  select count(*), array_agg(x.id) filter (where x.type = any(v_types)), (array_agg(x.id order by x.id desc))[1],
      (min(x.created_at) at time zone 'UTC')::date - 1
    into v_seen, v_events, v_position, v_since
    from (select e.id, e.type, e.created_at from events e where e.organization_id = p_organization_id
      and e.id > v_position and e.id < v_end order by e.id limit p_events) x;
  if v_events is not null then
    -- The latest delivery of an event decides: an earlier one was sent again. A delivery is no older than its event, but for what
    -- clocks are apart: a day is plenty.
    select coalesce(array_agg(l.event_id) filter (where l.status <> 'skipped' and not (v_again and l.status = 'succeeded')), '{}'),
        coalesce(array_agg(l.id) filter (where l.status = 'failed'), '{}')
      into v_known, v_failed
      from (select distinct on (d.event_id) d.event_id, d.id, d.status from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.event_id = any(v_events)
          and d.log_day >= v_since
        order by d.event_id, d.id desc) l;
    update deliveries d set ${restartSchedule},
        updated_at = greatest(millisecond_after(d.updated_at), p_now)
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_failed)
        and d.log_day >= v_since and d.log_day < 'infinity' and d.status = 'failed';
    get diagnostics v_retried = row_count;
    ${insertDeliveries({
      webhookId: 'p_webhook_id',
      event: 'e',
      attempts: 'p_attempts',
      from: `from events e where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)
        and e.subject_id <> p_webhook_id
        and e.cause->>'key' is distinct from coalesce(v_own_key, '')
        and ${conditionsHold(tables, 'v_conditions', 'p_webhook_id', 'e.id')}`,
    })}
    get diagnostics v_created = row_count;
  end if;

  if v_retried + v_created > 0 then
    ${wakeQueue}
  end if;
  update recoveries set position = coalesce(v_position, position), retried = retried + v_retried,
      created = created + v_created,
      finished_at = case when v_seen < p_events then p_now end,
      due_at = case when v_seen < p_events then null else p_now end,
      lease_id = case when v_seen < p_events then null else lease_id end,
      lease_until = case when v_seen < p_events then null else p_lease_until end
    where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
  return case when v_seen < p_events then 'done' else 'more' end;
end;`,
  )
