-- Creates the endpoint in p_row with its first secret: 'done', 'replayed', 'registrant_gone', or 'limit_reached' where
-- p_limit endpoints exist that have not ended.
create function create_webhook(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_row jsonb, p_secret_id uuid, p_sealed bytea,
  p_sealed_with bytea, p_limit int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  -- The key that becomes the registrant may have been revoked since authentication.
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = (p_row->>'api_key_id')::uuid
      and (k.expires_at is null or k.expires_at > p_now);
  if not found then
    return 'registrant_gone';
  end if;
  if (select count(*) from webhooks w where w.organization_id = p_organization_id
      and (w.ends_at is null or w.ends_at > p_now)) >= p_limit then
    return 'limit_reached';
  end if;
  perform require_sealed_with(p_sealed_with);
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  insert into webhooks (organization_id, id, url, description, events, signatures, options, sealed_headers, status,
      api_key_id, console_link_id, ends_at, created_at, updated_at)
    select p_organization_id, p_webhook_id, r.url, r.description, r.events, r.signatures, r.options,
        decode(r.sealed_headers, 'hex'), 'active', r.api_key_id, r.console_link_id, r.ends_at, p_now, p_now
      from jsonb_to_record(p_row) as r(url text, description text, events text[], signatures text[], options jsonb,
        sealed_headers text, api_key_id uuid, console_link_id uuid, ends_at timestamptz);
  insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    values (p_organization_id, p_webhook_id, p_secret_id, p_sealed, p_now);
  insert into webhook_health (organization_id, webhook_id) values (p_organization_id, p_webhook_id);
  insert into endpoint_queues (organization_id, webhook_id) values (p_organization_id, p_webhook_id);
  return 'done';
end;
$function$;
