-- Creates a ping with one delivery attempt, also to a disabled endpoint: 'done', 'replayed', or 'missing'.
create function ping_webhook(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_event_id uuid, p_delivery_id uuid, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id;
  if not found then
    return 'missing';
  end if;
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
    values (p_organization_id, p_event_id, 'ping', p_now, 'webhook', p_webhook_id, '{}');
  perform insert_deliveries(p_organization_id, p_now, array[
    (p_delivery_id, p_webhook_id, p_event_id, 'ping', p_now, 'webhook', p_webhook_id, 1, null, null, null,
      null)::new_delivery]);
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;
