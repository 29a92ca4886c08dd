-- Whether a calling key is as it was at authentication: neither revoked nor expired, and with the same scopes. Each
-- change of keys checks its caller again, under the clock.
create function key_is_unchanged(p_organization_id uuid, p_api_key_id uuid, p_scopes text[], p_now timestamptz)
returns boolean
language plpgsql volatile as $function$
begin
  return exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id
    and k.scopes = p_scopes and (k.expires_at is null or k.expires_at > p_now));
end;
$function$;
