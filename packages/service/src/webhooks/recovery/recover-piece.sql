-- One piece of a recovery. Reads the next p_events events of its window in commit order. For the types that the
-- endpoint subscribes to now, it restarts failed deliveries, with their stored payloads, and creates missing and
-- skipped ones if the endpoint's present conditions hold. Pending ones are left, and succeeded ones unless the
-- recovery includes them: then a new delivery is created.
--
-- The position moves in the same transaction, so a piece is done once. The clock row keeps other recoveries of the
-- endpoint, retries and disabling out; a completion may come between, and makes no failed delivery of one that this
-- changes.
--
-- Returns 'more', or with the lease released: 'done'; 'waiting' while p_backlog deliveries are due at the endpoint,
-- so that new events do not wait behind all of the past, or while deliveries of a large commit in the window are
-- still to be created; 'disabled', to be tried again in a minute; 'lost' when the recovery is another worker's or
-- gone.
create function recover_piece(
  p_organization_id uuid, p_webhook_id uuid, p_recovery_id uuid, p_lease_id uuid, p_now timestamptz,
  p_lease_until timestamptz, p_events int, p_backlog int, p_attempts int
) returns text
language plpgsql volatile as $function$
declare
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
  perform lock_clock(p_organization_id);
  select r.position, first_uuid_v7(r.until + interval '1 millisecond'),
      exists (select 1 from fan_outs f where f.organization_id = p_organization_id and f.webhook_id = p_webhook_id
        and f.stamp between r.since and r.until),
      r.include_succeeded
    into v_position, v_end, v_waits, v_again
    from recoveries r
    where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.id = p_recovery_id
      and r.lease_id = p_lease_id;
  if not found then
    return 'lost';
  end if;

  select w.events, w.options->'conditions', case when w.options ? 'skipOwn' then w.api_key_id::text end
    into v_types, v_conditions, v_own_key
    from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active';
  if not found then
    update recoveries set due_at = v_later, lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'disabled';
  end if;
  if not v_waits then
    perform 1 from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
        and d.next_attempt_at <= p_now
      offset p_backlog - 1 limit 1;
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
    from (select e.id, e.type, e.created_at from events e
      where e.organization_id = p_organization_id and e.id > v_position and e.id < v_end
      order by e.id limit p_events) x;
  if v_events is not null then
    -- The latest delivery of an event decides: an earlier one was sent again. A delivery is no older than its event,
    -- but for what clocks are apart: a day is plenty.
    select coalesce(array_agg(l.event_id)
          filter (where l.status <> 'skipped' and not (v_again and l.status = 'succeeded')), '{}'),
        coalesce(array_agg(l.id) filter (where l.status = 'failed'), '{}')
      into v_known, v_failed
      from (select distinct on (d.event_id) d.event_id, d.id, d.status from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.event_id = any(v_events)
          and d.log_day >= v_since
        order by d.event_id, d.id desc) l;
    update deliveries d set status = 'pending', payload = 'stored', attempts_before = d.attempt_count,
        max_attempts = d.attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity',
        updated_at = greatest(millisecond_after(d.updated_at), p_now)
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_failed)
        and d.log_day >= v_since and d.log_day < 'infinity' and d.status = 'failed';
    get diagnostics v_retried = row_count;
    v_created := insert_deliveries(p_organization_id, p_now, array(
      select (null, p_webhook_id, e.id, e.type, e.created_at, e.subject_kind, e.subject_id, p_attempts,
          null, null)::new_delivery
        from events e
        where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)
          and e.subject_id <> p_webhook_id
          and skip_reason(p_organization_id, p_webhook_id, e.id, v_conditions, v_own_key) is null));
  end if;

  if v_retried + v_created > 0 then
    perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  end if;
  update recoveries set position = coalesce(v_position, position), retried = retried + v_retried,
      created = created + v_created,
      finished_at = case when v_seen < p_events then p_now end,
      due_at = case when v_seen < p_events then null else p_now end,
      lease_id = case when v_seen < p_events then null else lease_id end,
      lease_until = case when v_seen < p_events then null else p_lease_until end
    where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
  return case when v_seen < p_events then 'done' else 'more' end;
end;
$function$;
