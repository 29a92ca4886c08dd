-- The log of one event with these filters, without deliveries to deleted endpoints. The order is that of the index by
-- event, so that no other fits. The planner inlines it.
create function log_of_event(
  p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_since timestamptz,
  p_after timestamptz, p_before timestamptz, p_event_id uuid
) returns table (webhook_id uuid, id uuid, log_day date)
language sql stable as $function$
  select d.webhook_id, d.id, d.log_day from (
    select d.webhook_id, d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.event_id = p_event_id
        and (d.log_day = 'infinity' or d.log_day >= (p_since at time zone 'UTC')::date and d.log_day < 'infinity'
          and d.id >= first_uuid_v7(p_since + interval '1 millisecond'))
        and (p_webhook_id is null or d.webhook_id = p_webhook_id)
        and (p_status is null or d.status = p_status
          or p_status = 'undelivered' and d.status in ('pending', 'failed'))
        and (p_event_type is null or d.event_type = p_event_type)
        and (p_after is null or d.created_at > p_after) and (p_before is null or d.created_at < p_before)
      order by d.event_id desc, d.webhook_id desc) d
    join webhooks w on w.organization_id = p_organization_id and w.id = d.webhook_id
$function$;
