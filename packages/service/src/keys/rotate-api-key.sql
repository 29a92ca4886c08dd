-- Creates a token. Earlier ones work until p_expires_at, or their own earlier end. Returns 'done', 'replayed',
-- 'caller_changed', or 'conflict' where the key no longer has the version p_expected.
create function rotate_api_key(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[], p_updated_at timestamptz, p_token_hash bytea, p_last4 text,
  p_expires_at timestamptz, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  if not key_is_unchanged(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  perform store_response(p_organization_id, p_api_key_id, p_now, p_response);
  delete from api_key_tokens
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at <= p_now;
  update api_key_tokens set expires_at = p_expires_at
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at is null;
  insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
    values (p_token_hash, p_organization_id, p_api_key_id, p_last4, p_now);
  update api_keys set updated_at = p_updated_at where organization_id = p_organization_id and id = p_api_key_id;
  return 'done';
end;
$function$;
