-- Disables an active endpoint if its worker's reason still holds: no success since `p_failing_before`, the URL
-- `p_url`, or no registrant. Under the clock row, so that no commit creates deliveries to it meanwhile. Returns
-- whether it did.
create function disable_webhook(
  p_organization_id uuid, p_webhook_id uuid, p_url text, p_reason text, p_now timestamptz, p_failing_before timestamptz
) returns boolean
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  update webhooks w set status = 'disabled', disabled_reason = p_reason, disabled_at = p_now,
      updated_at = greatest(millisecond_after(w.updated_at), p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active'
      and case p_reason
        when 'failing' then exists (select 1 from webhook_health h where h.organization_id = p_organization_id
          and h.webhook_id = p_webhook_id and h.failing_since <= p_failing_before)
        when 'address_not_public' then w.url = p_url
        when 'gone' then w.url = p_url
        when 'registrant_revoked' then not exists (select 1 from api_keys k
          where k.organization_id = p_organization_id and k.id = w.api_key_id
            and (k.expires_at is null or k.expires_at > p_now))
      end;
  if not found then
    return false;
  end if;
  update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = p_webhook_id;
  return true;
end;
$function$;
