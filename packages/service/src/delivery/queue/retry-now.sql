-- Makes up to `p_limit` deliveries that wait for a retry due now, the soonest first, and returns how many; null
-- unless the endpoint is active. It locks the queue first, as a completion computes its due time.
create function retry_now(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_limit int) returns int
language plpgsql volatile as $function$
declare
  v_retried int;
begin
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active'
    for share;
  if not found then
    return null;
  end if;
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  update deliveries d set next_attempt_at = p_now, updated_at = greatest(millisecond_after(d.updated_at), p_now)
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and d.id in (select x.id from deliveries x where x.organization_id = p_organization_id
        and x.webhook_id = p_webhook_id and x.log_day = 'infinity' and x.next_attempt_at > p_now
        order by x.next_attempt_at limit p_limit);
  get diagnostics v_retried = row_count;
  return v_retried;
end;
$function$;
