-- Ends all earlier secrets of the endpoint at once. Returns whether the endpoint exists.
create function drop_previous_secrets(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz) returns boolean
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  update webhooks w set updated_at = greatest(millisecond_after(w.updated_at), p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id
      and exists (select 1 from webhook_secrets s
        where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id and s.expires_at > p_now);
  delete from webhook_secrets
    where organization_id = p_organization_id and webhook_id = p_webhook_id and expires_at is not null;
  return exists (select 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id);
end;
$function$;
