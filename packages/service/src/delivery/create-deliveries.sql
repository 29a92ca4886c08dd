-- Creates a delivery of each event of a commit to each endpoint that is active and subscribed now. The commit function calls it under the
-- organization's clock row, which disabling an endpoint takes too. The events come as arrays of their ids, types, kinds and subjects;
-- their time is `p_stamp`. With no endpoint that subscribes, it costs one statement.
--
-- Beyond __large__ deliveries nothing is inserted, as nothing else of the organization can commit meanwhile: the subscriptions are noted,
-- and workers create the deliveries in pieces after the commit.
--
-- Returns in `p_any` whether an endpoint subscribes, in `p_large` whether workers have to create the deliveries, and in `p_woken` the
-- priority of each queue that has become due, by endpoint.
create function create_deliveries(
  p_organization_id uuid, p_now timestamptz, p_stamp timestamptz, p_max_attempts int,
  p_events uuid[], p_types text[], p_kinds text[], p_subjects uuid[],
  out p_any boolean, out p_large boolean, out p_woken jsonb
) language plpgsql volatile as $function$
declare
  v_webhooks uuid[];
begin
  p_large := false;
  p_woken := '{}';
  select array_agg(w.id) into v_webhooks from webhooks w
    where w.organization_id = p_organization_id and w.status = 'active'
      and w.events && array(select distinct t.type from unnest(p_types) as t(type));
  p_any := v_webhooks is not null;
  if not p_any then
    return;
  end if;

  if cardinality(p_events) > __large__ / cardinality(v_webhooks) then
    select sum(t.count) > __large__ into p_large from webhooks w
      join (select u.type, count(*) as count from unnest(p_types) as u(type) group by u.type) t on t.type = any(w.events)
      where w.organization_id = p_organization_id and w.id = any(v_webhooks);
  end if;
  if p_large then
    insert into fan_outs (organization_id, webhook_id, stamp, types, conditions, own_key, max_attempts, position, due_at)
      select p_organization_id, w.id, p_stamp, w.events, w.options->'conditions',
          case when w.options ? 'skipOwn' then w.api_key_id::text end, p_max_attempts, first_uuid_v7(p_stamp), p_now
        from webhooks w where w.organization_id = p_organization_id and w.id = any(v_webhooks);
    return;
  end if;

  perform insert_deliveries(p_organization_id, p_now, array(
    select (null, w.id, e.id, e.type, p_stamp, e.subject_kind, e.subject_id, p_max_attempts,
        null, s.reason)::new_delivery
      from webhooks w
        join unnest(p_events, p_types, p_kinds, p_subjects) as e(id, type, subject_kind, subject_id) on e.type = any(w.events)
        cross join lateral (select case when w.options ?| '{conditions,skipOwn}' then skip_reason(p_organization_id, w.id, e.id,
          w.options->'conditions', case when w.options ? 'skipOwn' then w.api_key_id::text end) end as reason offset 0) s
      where w.organization_id = p_organization_id and w.id = any(v_webhooks)));

  -- Each queue is locked as well: a worker that is about to find it empty waits, and then finds these. A worker that is busy
  -- with the queue is not notified: it looks again before it releases it.
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id and q.webhook_id = any(v_webhooks)
    order by q.webhook_id for update;
  with woken as (
    update endpoint_queues q set due_at = p_now where q.organization_id = p_organization_id and q.webhook_id = any(v_webhooks)
        and (q.due_at is null or q.due_at > p_now) and (q.lease_id is null or q.listening)
      returning q.webhook_id, q.priority)
    select coalesce(jsonb_object_agg(w.webhook_id, w.priority), '{}') into p_woken from woken w;
end;
$function$;
