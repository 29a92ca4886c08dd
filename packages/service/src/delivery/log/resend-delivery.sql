-- Creates a new delivery of the event of one that succeeded, which reads its subject anew: 'done', 'replayed', or
-- 'refused' where it cannot be sent again.
create function resend_delivery(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_new_id uuid, p_attempts int,
  p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  if not can_send_again(p_organization_id, p_webhook_id, p_delivery_id, 'succeeded') then
    return 'refused';
  end if;
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  perform insert_deliveries(p_organization_id, p_now, array(
    select (p_new_id, p_webhook_id, d.event_id, d.event_type, d.event_created_at, d.subject_kind, d.subject_id,
        p_attempts, null, null)::new_delivery
      from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = p_delivery_id
        and d.log_day < 'infinity'));
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;
