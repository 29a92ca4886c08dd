-- Creates a delivery of each event of a commit to each of the endpoints `p_webhooks` that is subscribed to it. They are
-- active, and stay so until the commit, as disabling one takes the organization's clock row too. `p_events`: the events
-- as deliveries to no endpoint yet; their time is `p_stamp`.
--
-- Beyond __large__ deliveries nothing is inserted, as nothing else of the organization can commit meanwhile: the
-- subscriptions are noted, and workers create the deliveries in pieces after the commit.
--
-- They are created and due at the commit's stamp, so that a worker that has read to a position and goes on from
-- there misses none: stamps increase in the order of commits (`read-position.ts`). Where clocks are so far apart that
-- this would delay them, it is now instead, and the worker begins again.
--
-- A queue that a worker holds is not changed, as its row would get a version with each commit: that worker is
-- notified, and looks again before it releases the queue. Both lock the queue, so that they do not miss each other.
--
-- A queue that is held, as its endpoint is paused, is due at 'infinity' and stays so.
--
-- Returns as `large` whether workers have to create the deliveries, and as `woken`, by endpoint, the priority of each
-- queue of which a worker has to be notified, and the worker that holds it or null.
create function create_deliveries(
  p_organization_id uuid, p_now timestamptz, p_stamp timestamptz, p_webhooks uuid[], p_events new_delivery[]
) returns jsonb language plpgsql volatile as $function$
declare
  v_large boolean := false;
  v_woken jsonb;
  v_idle uuid[];
  v_apart boolean := p_stamp > p_now + interval '__clocks_apart__ milliseconds';
begin
  if cardinality(p_events) > __large__ / cardinality(p_webhooks) then
    select sum(t.count) > __large__ into v_large from webhooks w
      join (select u.event_type, count(*) as count from unnest(p_events) u group by u.event_type) t
        on w.events && event_patterns(t.event_type)
      where w.organization_id = p_organization_id and w.id = any(p_webhooks);
  end if;
  if v_large then
    insert into delivery_jobs (organization_id, webhook_id, id, kind, since, until, types, conditions, own_key,
        created_at, position, due_at)
      select p_organization_id, w.id, first_uuid_v7(p_stamp), 'large_commit', p_stamp, p_stamp, w.events,
          w.options->'conditions', case when w.options ? 'skipOwn' then w.api_key_id::text end,
          p_now, first_uuid_v7(p_stamp), p_now
        from webhooks w where w.organization_id = p_organization_id and w.id = any(p_webhooks);
    return jsonb_build_object('large', true, 'woken', '{}'::jsonb);
  end if;

  perform insert_deliveries(p_organization_id, case when v_apart then p_now else p_stamp end, array(
    select (null, w.id, e.event_id, e.event_type, p_stamp, e.subject_kind, e.subject_id, e.max_attempts,
        null, s.reason, (w.options->>'coalesce')::int, null)::new_delivery
      from webhooks w
        join unnest(p_events) e on w.events && event_patterns(e.event_type)
        cross join lateral (select case when w.options ?| '{conditions,skipOwn}'
          then skip_reason(p_organization_id, w.id, e.event_id, w.options->'conditions',
            case when w.options ? 'skipOwn' then w.api_key_id::text end) end as reason offset 0) s
      where w.organization_id = p_organization_id and w.id = any(p_webhooks)));

  select array_agg(q.webhook_id) filter (where q.lease_id is null and coalesce(q.due_at > p_now, true)
        and q.due_at is distinct from 'infinity'),
      coalesce(jsonb_object_agg(q.webhook_id, jsonb_build_array(q.priority, case when q.lease_until > p_now
        then q.worker_id end))
        filter (where q.lease_id is not null or coalesce(q.due_at > p_now, true)
          and q.due_at is distinct from 'infinity'), '{}')
    into v_idle, v_woken
    from (select l.webhook_id, l.due_at, l.lease_id, l.lease_until, l.worker_id, l.priority from endpoint_queues l
      where l.organization_id = p_organization_id and l.webhook_id = any(p_webhooks) order by l.webhook_id
        for no key update) q;
  if v_apart then
    perform wake_queues(p_organization_id, p_webhooks, p_now);
  elsif v_idle is not null then
    update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = any(v_idle);
  end if;
  return jsonb_build_object('large', false, 'woken', v_woken);
end;
$function$;
