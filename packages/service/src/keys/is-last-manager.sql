-- Whether the key is the only valid one of its organization that can manage keys.
create function is_last_manager(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns boolean
language plpgsql volatile as $function$
begin
  return exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id
      and k.scopes && array['*', '__managing_scope__'] and (k.expires_at is null or k.expires_at > p_now))
    and not exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id <> p_api_key_id
      and k.scopes && array['*', '__managing_scope__'] and (k.expires_at is null or k.expires_at > p_now));
end;
$function$;
