-- The same deliveries, where those of updates to endpoints that coalesce (`wait`) are sent as one for each object and
-- type: one waits, and reads the object when its time has come; those that come meanwhile are skipped, as `coalesced`
-- into it. All others are as they are, and wait for nothing.
--
-- The one that waits gets a new version with each, so that a worker whose clock is ahead, which may have read the
-- object before this change, cannot complete it: the delivery is then sent again. The queues are locked first, as a
-- completion moves the same rows to another partition.
create function coalesce_deliveries(p_organization_id uuid, p_now timestamptz, p_deliveries new_delivery[])
returns new_delivery[]
language plpgsql volatile as $function$
declare
  v_deliveries new_delivery[];
  v_waiting uuid[];
begin
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id
    and q.webhook_id in (select d.webhook_id from unnest(p_deliveries) d where d.wait is not null)
    order by q.webhook_id for no key update;
  with given as materialized (
    select coalesce(d.id, new_uuid_v7(p_now)) as id, d.webhook_id, d.event_id, d.event_type, d.event_created_at,
        d.subject_kind, d.subject_id, d.max_attempts, d.disabled, d.skipped, d.wait, d.place,
        d.wait is not null and d.event_type like '%.updated' and d.disabled is null and d.skipped is null as joins
      from unnest(p_deliveries) with ordinality as d(id, webhook_id, event_id, event_type, event_created_at,
        subject_kind, subject_id, max_attempts, disabled, skipped, wait, coalesced_into, place)
  ), waiting as materialized (
    select g.webhook_id, g.subject_id, g.event_type, coalesce(
        (select d.id from deliveries d where d.organization_id = p_organization_id and d.webhook_id = g.webhook_id
          and d.subject_id = g.subject_id and d.event_type = g.event_type and d.log_day = 'infinity'
          and d.attempt_count = 0 and d.next_attempt_at > d.created_at and d.next_attempt_at > p_now limit 1),
        (array_agg(g.id order by g.place))[1]) as id
      from given g where g.joins group by g.webhook_id, g.subject_id, g.event_type
  )
  select array_agg((g.id, g.webhook_id, g.event_id, g.event_type, g.event_created_at, g.subject_kind, g.subject_id,
        g.max_attempts, g.disabled, case when w.id <> g.id then 'coalesced' else g.skipped end,
        case when w.id = g.id then g.wait end, case when w.id <> g.id then w.id end)::new_delivery order by g.place),
      array(select w.id from waiting w)
    into v_deliveries, v_waiting
    from given g left join waiting w on g.joins and w.webhook_id = g.webhook_id and w.subject_id = g.subject_id
      and w.event_type = g.event_type;
  update deliveries d set updated_at = greatest(millisecond_after(d.updated_at), p_now)
    where d.organization_id = p_organization_id and d.webhook_id in (select n.webhook_id from unnest(v_deliveries) n)
      and d.id = any(v_waiting) and d.log_day = 'infinity';
  return v_deliveries;
end;
$function$;
