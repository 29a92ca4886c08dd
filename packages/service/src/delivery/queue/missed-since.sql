-- Where a recovery of all missed events of an endpoint must begin (specification 11.4): perhaps before the first
-- missed event, never after it; null when nothing was missed.
--
-- The earliest of: the events of the oldest failed deliveries, of which so many are looked at, as those of a large
-- commit are created late though their events are older; the windows of delivery jobs whose deliveries (younger
-- than their events) failed; and the time at which the endpoint was disabled, less a minute, as clocks differ.
-- Not earlier than the endpoint, or than what a recovery requested within a minute may begin at.
create function missed_since(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz,
  p_log_begin timestamptz) returns timestamptz
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_sort = off as $function$
declare
  v_created_at timestamptz;
  v_since timestamptz;
begin
  select w.created_at, least(
      (select min(f.event_created_at) from (select d.event_created_at from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
          and d.log_day >= (p_log_begin at time zone 'UTC')::date and d.log_day < 'infinity'
            and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('failed', first_uuid_v7(p_log_begin + interval '1 millisecond'))
          and (d.status, d.id) <= ('failed', 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
          and d.event_type <> 'ping'
          and (w.options @> '{"format": "mcp"}' and d.response_status in (__final_statuses__)) is not true
        order by d.status, d.id limit 100) f),
      (select min(r.since) from delivery_jobs r
        where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.created > 0
          and exists (select 1 from deliveries d
            where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
              and d.log_day >= (p_log_begin at time zone 'UTC')::date and d.log_day < 'infinity'
                and d.status in ('failed', 'skipped')
              and (d.status, d.id) >= ('failed', first_uuid_v7(r.created_at - interval '1 minute'))
              and (d.status, d.id) <= ('failed', first_uuid_v7(coalesce(r.finished_at, p_now) + interval '1 minute'))
              and d.event_type <> 'ping'
              and (w.options @> '{"format": "mcp"}' and d.response_status in (__final_statuses__)) is not true)),
      case when w.disabled_at is not null or w.gap_until >= p_log_begin
        then least(w.gap_since, w.disabled_at) - interval '1 minute' end)
    into v_created_at, v_since
    from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id;
  return case when v_since is not null then greatest(v_since, v_created_at, p_log_begin + interval '1 minute') end;
end;
$function$;
