-- Creates a delivery of each event of a commit to each endpoint that is active and subscribed now. The commit
-- function calls it under the organization's clock row, which disabling an endpoint takes too. The events come as
-- arrays of their ids, types, kinds and subjects; their time is `p_stamp`. With no endpoint that subscribes, it costs
-- one statement.
--
-- Beyond __large__ deliveries nothing is inserted, as nothing else of the organization can commit meanwhile: the
-- subscriptions are noted, and workers create the deliveries in pieces after the commit.
--
-- They are created and due at the commit's stamp, so that a worker that goes on from where it has read to misses
-- none: stamps increase in the order of commits (`read-position.ts`). Where clocks are so far apart that this would
-- delay them, it is now instead, and the worker begins again.
--
-- A queue that a worker holds is not changed, as its row would get a version with each commit: that worker is
-- notified, and looks again before it releases the queue. Both lock the queue, so that they do not miss each other.
--
-- Returns in `p_any` whether an endpoint subscribes, in `p_large` whether workers have to create the deliveries, and
-- in `p_woken`, by endpoint, the priority of each queue of which a worker has to be notified, and the worker that
-- holds it or null.
create function create_deliveries(
  p_organization_id uuid, p_now timestamptz, p_stamp timestamptz, p_max_attempts int,
  p_events uuid[], p_types text[], p_kinds text[], p_subjects uuid[],
  out p_any boolean, out p_large boolean, out p_woken jsonb
) language plpgsql volatile as $function$
declare
  v_webhooks uuid[];
  v_idle uuid[];
  v_apart boolean := p_stamp > p_now + interval '__clocks_apart__ milliseconds';
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
      join (select u.type, count(*) as count from unnest(p_types) as u(type) group by u.type) t
        on t.type = any(w.events)
      where w.organization_id = p_organization_id and w.id = any(v_webhooks);
  end if;
  if p_large then
    insert into fan_outs (organization_id, webhook_id, stamp, types, conditions, own_key, max_attempts, position,
      due_at)
      select p_organization_id, w.id, p_stamp, w.events, w.options->'conditions',
          case when w.options ? 'skipOwn' then w.api_key_id::text end, p_max_attempts, first_uuid_v7(p_stamp), p_now
        from webhooks w where w.organization_id = p_organization_id and w.id = any(v_webhooks);
    return;
  end if;

  perform insert_deliveries(p_organization_id, case when v_apart then p_now else p_stamp end, array(
    select (null, w.id, e.id, e.type, p_stamp, e.subject_kind, e.subject_id, p_max_attempts,
        null, s.reason)::new_delivery
      from webhooks w
        join unnest(p_events, p_types, p_kinds, p_subjects) as e(id, type, subject_kind, subject_id)
          on e.type = any(w.events)
        cross join lateral (select case when w.options ?| '{conditions,skipOwn}'
          then skip_reason(p_organization_id, w.id, e.id, w.options->'conditions',
            case when w.options ? 'skipOwn' then w.api_key_id::text end) end as reason offset 0) s
      where w.organization_id = p_organization_id and w.id = any(v_webhooks)));

  select array_agg(q.webhook_id) filter (where q.lease_id is null and coalesce(q.due_at > p_now, true)),
      coalesce(jsonb_object_agg(q.webhook_id, jsonb_build_array(q.priority, case when q.lease_until > p_now
        then q.worker_id end))
        filter (where q.lease_id is not null or coalesce(q.due_at > p_now, true)), '{}')
    into v_idle, p_woken
    from (select l.webhook_id, l.due_at, l.lease_id, l.lease_until, l.worker_id, l.priority from endpoint_queues l
      where l.organization_id = p_organization_id and l.webhook_id = any(v_webhooks) order by l.webhook_id
        for no key update) q;
  if v_apart then
    perform wake_queues(p_organization_id, v_webhooks, p_now);
  elsif v_idle is not null then
    update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = any(v_idle);
  end if;
end;
$function$;
