-- Adds a secret; earlier ones sign until p_expires_at at most: 'done', 'replayed', 'conflict' where the endpoint no
-- longer has the version p_expected, or 'limit_reached' where p_limit secrets already sign.
create function rotate_webhook_secret(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_updated_at timestamptz,
  p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_expires_at timestamptz, p_limit int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform 1 from webhooks w
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  if (select count(*) from webhook_secrets s where s.organization_id = p_organization_id
      and s.webhook_id = p_webhook_id and (s.expires_at is null or s.expires_at > p_now)) >= p_limit then
    return 'limit_reached';
  end if;
  perform require_sealed_with(p_sealed_with);
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  delete from webhook_secrets
    where organization_id = p_organization_id and webhook_id = p_webhook_id and expires_at <= p_now;
  update webhook_secrets set expires_at = p_expires_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and expires_at is null;
  -- Later than every other of the endpoint, whatever the clocks say: it is the first to sign.
  insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    select p_organization_id, p_webhook_id, p_secret_id, p_sealed,
        greatest(p_now, max(s.created_at) + interval '1 millisecond')
      from webhook_secrets s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id;
  update webhooks set updated_at = p_updated_at where organization_id = p_organization_id and id = p_webhook_id;
  return 'done';
end;
$function$;
