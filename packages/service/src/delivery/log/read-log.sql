-- A page of the delivery log, the latest first: of the endpoint p_webhook_id, or of all that exist; of the event
-- p_event_id; with this status and type; created after p_since, which is how far the log goes back, after p_after and
-- before p_before.
--
-- A function, so that each connection plans it once, regardless of statistics: planning took longer than reading, and
-- a plan that sorts would read the whole log of a large endpoint. It finds ids by index, and only then reads the
-- rows, so that skipped rows are not read. The log of all endpoints merges the latest rows of each: an organization
-- has few endpoints, and further indexes would slow down every delivery.
create function read_log(
  p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_since timestamptz,
  p_after timestamptz, p_before timestamptz, p_event_id uuid, p_limit bigint, p_offset bigint
) returns table (
  id uuid, webhook_id uuid, event_id uuid, event_type text, status text, attempt_count int, max_attempts int,
  response_status int, last_error_code text, last_error_message text, duration_ms int, last_attempt_at timestamptz,
  next_attempt_at timestamptz, delivered_at timestamptz, created_at timestamptz, updated_at timestamptz
)
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_sort = off as $function$
#variable_conflict use_column
declare
  v_since timestamptz := greatest(p_since, p_after);
  v_pending_from uuid := first_uuid_v7(greatest(p_after, 'epoch') + interval '1 millisecond');
  v_from uuid := first_uuid_v7(v_since + interval '1 millisecond');
  v_day date := (v_since at time zone 'UTC')::date;
  v_to uuid := case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    else first_uuid_v7(greatest(p_before, 'epoch')) end;
  v_webhooks uuid[];
  v_ids uuid[];
  v_days date[];
begin
  if p_event_id is not null then
    select array_agg(f.webhook_id), array_agg(f.id), array_agg(f.log_day) into v_webhooks, v_ids, v_days
      from (select f.webhook_id, f.id, f.log_day
        from log_of_event(p_organization_id, p_webhook_id, p_status, p_event_type, p_since, p_after, p_before,
          p_event_id) f
        order by f.id desc limit p_limit offset p_offset) f;
  else
    select array_agg(f.webhook_id), array_agg(f.id), array_agg(f.log_day) into v_webhooks, v_ids, v_days
      from (select w.id as webhook_id, f.id, f.log_day from webhooks w
        cross join lateral log_of_endpoint(p_organization_id, w.id, p_status, p_event_type, v_pending_from, v_from,
          v_day, v_to, p_offset + p_limit) f
        where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
        order by f.id desc limit p_limit offset p_offset) f;
  end if;
  return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
      d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at,
      d.delivered_at, d.created_at, d.updated_at
    from unnest(v_webhooks, v_ids, v_days) as f(webhook_id, id, log_day)
      cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count,
          d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at,
          d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at
        from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = f.webhook_id and d.log_day = f.log_day
          and d.id >= f.id and d.id <= f.id
        order by d.id limit 1) d
    order by f.id desc;
end;
$function$;
