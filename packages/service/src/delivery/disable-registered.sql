-- Disables the active endpoints that a key registered, under the clock row, makes their queues due, and returns their
-- ids. Subscriptions are notified that they have ended, and end in an hour.
create function disable_registered(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns uuid[]
language plpgsql volatile as $function$
declare
  v_webhook_ids uuid[];
  v_ends_at timestamptz := p_now + interval '1 hour';
begin
  select array_agg(w.id) into v_webhook_ids from webhooks w
    where w.organization_id = p_organization_id and w.api_key_id = p_api_key_id and w.status = 'active';
  update webhooks set status = 'disabled', disabled_reason = 'registrant_revoked', disabled_at = p_now,
      ends_at = case when subscription_id is null then ends_at else least(ends_at, v_ends_at) end,
      updated_at = greatest(millisecond_after(updated_at), p_now)
    where organization_id = p_organization_id and id = any(v_webhook_ids);
  perform notify_subscriptions(p_organization_id, p_now, 'terminated', v_webhook_ids, 3);
  perform wake_queues(p_organization_id, v_webhook_ids, p_now);
  return v_webhook_ids;
end;
$function$;
