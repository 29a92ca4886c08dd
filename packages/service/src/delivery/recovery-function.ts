/** A piece of a recovery, done in the database under the organization's clock row. */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { lockClock } from '../journal/call-fragments.ts'
import { startAnew, wakeLane } from './call-fragments.ts'

/**
 * Looks at the next p_events events of a recovery's window, in the order of their commits, and for those of the types that
 * the endpoint is subscribed to now retries what has failed and makes what is missing; what is pending or has succeeded
 * is left. A retried delivery goes out with its stored payload, one that is made reads anew (specification 11.4).
 *
 * The recovery moves on in the same commit, so a piece is done once, whoever dies. Under the clock row no other recovery
 * of the endpoint, no retry and no disabling can come between what is looked at and what is done; settling can, and
 * makes a failed delivery of none that this changes.
 *
 * Answers 'more', or that the lease is given back: 'done'; 'waiting' while p_backlog deliveries are due at the endpoint,
 * so that what happens now does not stand behind all of the past, or while deliveries of a large commit in its window are
 * still to be made to the endpoint; 'disabled', to be looked at again in a minute; 'lost'
 * when the recovery is another worker's or gone.
 */
export const recoverFunction: SchemaFunction = schemaFunction(
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
  v_types text[];
  v_since date;
  v_seen int;
  v_events uuid[];
  v_known uuid[];
  v_retried int := 0;
  v_created int := 0;
begin
  ${lockClock}
  select r.position, first_uuid_v7(r.until + interval '1 millisecond'), exists (select 1 from fan_outs f
        where f.organization_id = p_organization_id and f.webhook_id = p_webhook_id and f.stamp between r.since and r.until)
      into v_position, v_end, v_waits from recoveries r
    where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.id = p_recovery_id
      and r.lease_id = p_lease_id;
  if not found then
    return 'lost';
  end if;

  select w.events into v_types from webhooks w
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active';
  if not found then
    update recoveries set due_at = p_now + interval '1 minute', lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'disabled';
  end if;
  if not v_waits then
    perform 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and d.next_attempt_at <= p_now offset p_backlog - 1 limit 1;
    v_waits := found;
  end if;
  if v_waits then
    update recoveries set due_at = p_now + interval '250 milliseconds', lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'waiting';
  end if;

  select count(*), array_agg(x.id) filter (where x.type = any(v_types)), (array_agg(x.id order by x.id desc))[1],
      (min(x.created_at) at time zone 'UTC')::date - 1
    into v_seen, v_events, v_position, v_since
    from (select e.id, e.type, e.created_at from events e where e.organization_id = p_organization_id
      and e.id > v_position and e.id < v_end order by e.id limit p_events) x;
  if v_events is not null then
    -- A delivery is no older than its event, but for what clocks are apart: a day is plenty.
    select coalesce(array_agg(d.event_id), '{}') into v_known from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.event_id = any(v_events)
        and d.log_day >= v_since;
    update deliveries d set ${startAnew},
        updated_at = greatest(d.updated_at + interval '1 millisecond', p_now)
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.event_id = any(v_known)
        and d.log_day >= v_since and d.log_day < 'infinity' and d.status = 'failed';
    get diagnostics v_retried = row_count;
    insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at,
        subject_kind, subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, created_at, updated_at)
      select p_organization_id, new_uuid_v7(p_now), p_webhook_id, 'infinity', e.id, e.type, e.created_at, e.subject_kind,
          e.subject_id, 'pending', 'current', 0, p_attempts, p_now, p_now, p_now
        from events e where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known);
    get diagnostics v_created = row_count;
  end if;

  if v_retried + v_created > 0 then
    ${wakeLane}
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
