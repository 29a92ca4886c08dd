-- How many rows the delivery log has with these filters, which are those of read_log, up to one more than
-- __counted_at_most__.
create function count_log(
  p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_since timestamptz,
  p_after timestamptz, p_before timestamptz, p_event_id uuid
) returns bigint
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_sort = off as $function$
declare
  v_since timestamptz := greatest(p_since, p_after);
  v_pending_from uuid := first_uuid_v7(greatest(p_after, 'epoch') + interval '1 millisecond');
  v_from uuid := first_uuid_v7(v_since + interval '1 millisecond');
  v_day date := (v_since at time zone 'UTC')::date;
  v_to uuid := case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    else first_uuid_v7(greatest(p_before, 'epoch')) end;
  v_limit bigint := __counted_at_most__ + 1;
begin
  if p_event_id is not null then
    return (select count(*) from (select 1
      from log_of_event(p_organization_id, p_webhook_id, p_status, p_event_type, p_since, p_after, p_before,
        p_event_id) f
      limit v_limit) c);
  end if;
  return (select count(*) from (select 1 from webhooks w
    cross join lateral log_of_endpoint(p_organization_id, w.id, p_status, p_event_type, v_pending_from, v_from, v_day,
      v_to, v_limit) f
    where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
    limit v_limit) c);
end;
$function$;
