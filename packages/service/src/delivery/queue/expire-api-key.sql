-- Carries out the expiry of a key: disables the endpoints that it registered, and returns their ids; null when that
-- was done before, or the key has not expired.
create function expire_api_key(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns uuid[]
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  update api_keys set expiry_settled_at = p_now
    where organization_id = p_organization_id and id = p_api_key_id and expires_at <= p_now
      and expiry_settled_at is null;
  if not found then
    return null;
  end if;
  return disable_registered(p_organization_id, p_api_key_id, p_now);
end;
$function$;
