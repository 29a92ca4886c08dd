/** Creates the deliveries of large commits after the commit, in pieces under the clock row, one organization after another. */
import { fromOrganization, unlessBusy } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { lockClock } from '../journal/sql-fragments.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { type JobLoop, jobLoop } from '../kernel/job-loop.ts'
import { loggable } from '../kernel/loggable.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { joinEndpoint } from '../webhooks/table/endpoints.ts'
import type { JobServices } from './model.ts'
import { conditionsHold, insertDeliveries } from './new-deliveries.ts'
import { suspendedOrganizations } from './sweep.ts'
import { deliveryTuning } from './tuning.ts'

const { backlogAtMost, eventsAPiece, eventsOfOne, ...limits } = deliveryTuning.fanOuts

export function createFanOuts(
  services: JobServices & { readonly database: Database; readonly tables: readonly StreamTable[] },
): JobLoop {
  const { database, clock, log, onDeliveries } = services
  const piece = fanOutFunction(services.tables).name
  return jobLoop({
    ...limits,
    async findDue(limit, except) {
      // The organization that had a piece last comes last. A suspended one creates no deliveries.
      const { rows } = await database.forSeveral.query<{ organization_id: string }>({
        name: 'find_due_fan_outs',
        text: `select f.organization_id from fan_outs f
                 where f.due_at <= $1 and f.organization_id <> all(${suspendedOrganizations}) and f.organization_id <> all($2)
                 group by f.organization_id order by max(f.due_at) limit $3`,
        values: [formatTimestamp(clock.now()), except, limit],
      })
      return rows.map((row) => ({ organizationId: row.organization_id }))
    },
    async run({ organizationId }) {
      const called = database.ofLong(organizationId).query<{ came: 'more' | 'done' | 'busy' }>({
        name: piece,
        text: `select ${piece}($1, $2, ${eventsAPiece}, ${eventsOfOne}, ${backlogAtMost}) as came
                 ${fromOrganization}`,
        values: [organizationId, formatTimestamp(clock.now())],
      })
      const answer = await unlessBusy(called)
      if (answer === 'busy' || (answer.rows[0]?.came ?? 'busy') === 'busy') return 'busy'
      onDeliveries()
      return 'done'
    },
    onFailure(error, job) {
      const err = loggable(error)
      if (job === null) log.warn({ err }, 'could not look for large commits; trying again')
      else log.warn({ ...job, err }, 'some deliveries of a large commit could not be made; trying again')
    },
  })
}

/** Names the advisory lock of an organization's pieces: any constant that nothing else on the server uses. */
const lockNumber = 673_720_110

/**
 * Reads up to p_events events of an organization's large commits, p_each of one commit and endpoint at a time, and creates deliveries to
 * the endpoints that were active and subscribed at the commit, by their options then. What has had a piece goes behind what has not. Events
 * with a delivery to the endpoint are skipped. A disabled endpoint gets failed deliveries; one with p_backlog due deliveries gets no more
 * until they are sent, so that new events do not wait behind all of a large commit.
 *
 * The position moves in the same transaction, so each delivery is created once. One piece of an organization runs at a time; it waits 250
 * ms for the clock row and then raises lock_not_available.
 *
 * Returns 'more', 'done' when nothing is due, or 'busy' when another worker runs a piece of the organization.
 */
export const fanOutFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaFunction(
    'fan_out_piece',
    {
      arguments: 'p_organization_id uuid, p_now timestamptz, p_events int, p_each int, p_backlog int',
      returns: 'text',
    },
    `declare
  v_webhook_id uuid;
  v_stamp timestamptz(3);
  v_types text[];
  v_conditions jsonb;
  v_own_key text;
  v_position uuid;
  v_max_attempts int;
  v_reason text;
  v_left int := p_events;
  v_soon timestamptz := p_now + interval '250 milliseconds';
  v_step int;
  v_seen int;
  v_last uuid;
  v_events uuid[];
  v_known uuid[];
begin
  if not pg_try_advisory_xact_lock(${lockNumber}, hashtext(p_organization_id::text)) then
    return 'busy';
  end if;
  ${lockClock}
  while v_left > 0 loop
    select f.webhook_id, f.stamp, f.types, f.conditions, f.own_key, f.position, f.max_attempts, w.disabled_reason
      into v_webhook_id, v_stamp, v_types, v_conditions, v_own_key, v_position, v_max_attempts, v_reason
      from fan_outs f ${joinEndpoint('f.organization_id', 'f.webhook_id')}
      where f.organization_id = p_organization_id and f.due_at <= p_now
      order by f.due_at, f.stamp, f.webhook_id limit 1;
    if not found then
      return 'done';
    end if;

    if v_reason is null then
      perform 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id
        and d.log_day = 'infinity' and d.next_attempt_at <= p_now offset p_backlog - 1 limit 1;
      if found then
        update fan_outs set due_at = v_soon
          where organization_id = p_organization_id and webhook_id = v_webhook_id and stamp = v_stamp;
        continue;
      end if;
    end if;

    v_step := least(p_each, v_left);
    select count(*), array_agg(x.id) filter (where x.type = any(v_types)), (array_agg(x.id order by x.id desc))[1]
      into v_seen, v_events, v_last
      from (select e.id, e.type from events e where e.organization_id = p_organization_id
        and e.id > v_position and e.id < first_uuid_v7(v_stamp + interval '1 millisecond')
        order by e.id limit v_step) x;
    v_left := v_left - greatest(v_seen, 1);
    if v_events is not null then
      -- A delivery is no older than its event, but for what clocks are apart: a day is plenty.
      select coalesce(array_agg(d.event_id), '{}') into v_known from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id and d.event_id = any(v_events)
          and d.log_day >= (v_stamp at time zone 'UTC')::date - 1;
      ${insertDeliveries({
        webhookId: 'v_webhook_id',
        event: 'e',
        attempts: 'v_max_attempts',
        from: 'from events e where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)',
        disabledReason: 'v_reason',
        holds: `(${conditionsHold(tables, 'v_conditions', 'v_webhook_id', 'e.id')})`,
        isOwn: "e.cause->>'key' = v_own_key",
      })}
      if v_reason is null then
        -- The queue is locked, not only woken, as by a commit.
        perform 1 from endpoint_queues l where l.organization_id = p_organization_id and l.webhook_id = v_webhook_id for update;
        update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = v_webhook_id
          and (due_at is null or due_at > p_now) and (lease_id is null or listening);
      end if;
    end if;
    if v_seen < v_step then
      delete from fan_outs
        where organization_id = p_organization_id and webhook_id = v_webhook_id and stamp = v_stamp;
    else
      update fan_outs set position = v_last, due_at = p_now
        where organization_id = p_organization_id and webhook_id = v_webhook_id and stamp = v_stamp;
    end if;
  end loop;
  return 'more';
end;`,
  )
