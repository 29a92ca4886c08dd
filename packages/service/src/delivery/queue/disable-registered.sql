-- Disables the active endpoints that a key registered, under the clock row, makes their queues due, and returns their
-- ids.
create function disable_registered(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns uuid[]
language plpgsql volatile as $function$
declare
  v_webhook_ids uuid[];
begin
  select array_agg(w.id) into v_webhook_ids from webhooks w
    where w.organization_id = p_organization_id and w.api_key_id = p_api_key_id and w.status = 'active';
  update webhooks set status = 'disabled', disabled_reason = 'registrant_revoked', disabled_at = p_now,
      updated_at = greatest(millisecond_after(updated_at), p_now)
    where organization_id = p_organization_id and id = any(v_webhook_ids);
  perform wake_queues(p_organization_id, v_webhook_ids, p_now);
  return v_webhook_ids;
end;
$function$;
