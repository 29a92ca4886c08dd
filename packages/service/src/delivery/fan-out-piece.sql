-- Reads up to `p_events` events of an organization's large commits, `p_each` of one commit and endpoint at a time,
-- and creates deliveries to the endpoints that were active and subscribed at the commit, by their options then. What
-- has had a piece goes behind what has not. Events with a delivery to the endpoint are skipped. A disabled endpoint
-- gets failed deliveries; one with `p_backlog` due deliveries gets no more until they are sent, so that new events do
-- not wait behind all of a large commit.
--
-- The position moves in the same transaction, so each delivery is created once. One piece of an organization runs at
-- a time; it waits 250 ms for the clock row and then raises lock_not_available.
--
-- Returns 'more', 'done' when nothing is due, or 'busy' when another worker runs a piece of the organization.
create function fan_out_piece(p_organization_id uuid, p_now timestamptz, p_events int, p_each int, p_backlog int)
returns text
language plpgsql volatile as $function$
declare
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
  if not pg_try_advisory_xact_lock(__lock_number__, hashtext(p_organization_id::text)) then
    return 'busy';
  end if;
  perform lock_clock(p_organization_id);
  while v_left > 0 loop
    select f.webhook_id, f.stamp, f.types, f.conditions, f.own_key, f.position, f.max_attempts, w.disabled_reason
      into v_webhook_id, v_stamp, v_types, v_conditions, v_own_key, v_position, v_max_attempts, v_reason
      from fan_outs f join webhooks w on w.organization_id = f.organization_id and w.id = f.webhook_id
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
      perform insert_deliveries(p_organization_id, p_now, array(
        select (null, v_webhook_id, e.id, e.type, e.created_at, e.subject_kind, e.subject_id, v_max_attempts, v_reason,
            skip_reason(p_organization_id, v_webhook_id, e.id, v_conditions, v_own_key))::new_delivery
          from events e where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)));
      if v_reason is null then
        perform wake_queues(p_organization_id, array[v_webhook_id], p_now);
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
end;
$function$;
