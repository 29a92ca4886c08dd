-- Adds a secret that is later than every other of the endpoint, whatever the clocks say: it is the first to sign.
create function add_webhook_secret(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_secret_id uuid, p_sealed bytea
) returns void
language plpgsql volatile as $function$
begin
  insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    select p_organization_id, p_webhook_id, p_secret_id, p_sealed,
        greatest(p_now, max(s.created_at) + interval '1 millisecond')
      from webhook_secrets s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id;
end;
$function$;
