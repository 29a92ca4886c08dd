-- Sends a delivery again: a failed one restarts its schedule, with its stored payload (one for several changes: with
-- the present one) and p_attempts more attempts; the event of one that succeeded gets a new delivery, p_new_id, which
-- reads its subject anew. Returns 'done', 'replayed', or 'refused' unless its endpoint is active, it has that status,
-- and no other delivery of its event to the endpoint is pending.
create function send_again(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_new_id uuid,
  p_updated_at timestamptz, p_attempts int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform 1 from webhooks w
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active';
  if not found then
    return 'refused';
  end if;
  perform 1 from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = p_delivery_id
      and d.log_day < 'infinity' and d.status = case when p_new_id is null then 'failed' else 'succeeded' end
      and not exists (select 1 from deliveries o
        where o.organization_id = p_organization_id and o.webhook_id = p_webhook_id and o.event_id = d.event_id
          and o.log_day = 'infinity');
  if not found then
    return 'refused';
  end if;
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  if p_new_id is null then
    update deliveries set status = 'pending', payload = case when exists (select 1 from webhooks w
          where w.organization_id = p_organization_id and w.id = p_webhook_id and w.options ? 'coalesce')
        then 'current' else 'stored' end,
        attempts_before = attempt_count, max_attempts = attempt_count + p_attempts, next_attempt_at = p_now,
        log_day = 'infinity', updated_at = p_updated_at
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_delivery_id
        and log_day < 'infinity' and status = 'failed';
  else
    perform insert_deliveries(p_organization_id, p_now, array(
      select (p_new_id, p_webhook_id, d.event_id, d.event_type, d.event_created_at, d.subject_kind, d.subject_id,
          p_attempts, null, null, null, null)::new_delivery
        from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = p_delivery_id
          and d.log_day < 'infinity'));
  end if;
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;
