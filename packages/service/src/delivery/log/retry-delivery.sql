-- Restarts the schedule of a failed delivery, with its stored payload and p_attempts more attempts: 'done',
-- 'replayed', or 'refused' where it cannot be sent again.
create function retry_delivery(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_updated_at timestamptz,
  p_attempts int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  if not can_send_again(p_organization_id, p_webhook_id, p_delivery_id, 'failed') then
    return 'refused';
  end if;
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  update deliveries set status = 'pending', payload = 'stored', attempts_before = attempt_count,
      max_attempts = attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity',
      updated_at = p_updated_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_delivery_id
      and log_day < 'infinity' and status = 'failed';
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;
