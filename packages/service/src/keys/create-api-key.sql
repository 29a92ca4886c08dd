-- Creates the key in p_row with its first token: 'done', 'replayed', 'caller_changed', or 'limit_reached' where p_limit
-- keys exist.
create function create_api_key(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_caller_id uuid, p_caller_scopes text[],
  p_row jsonb, p_token_hash bytea, p_last4 text, p_limit int, p_response jsonb
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
  if (select count(*) from api_keys k where k.organization_id = p_organization_id) >= p_limit then
    return 'limit_reached';
  end if;
  perform store_response(p_organization_id, p_api_key_id, p_now, p_response);
  insert into api_keys (organization_id, id, name, scopes, expires_at, created_at, updated_at)
    select p_organization_id, p_api_key_id, r.name, r.scopes, r.expires_at, p_now, p_now
      from jsonb_to_record(p_row) as r(name text, scopes text[], expires_at timestamptz);
  insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
    values (p_token_hash, p_organization_id, p_api_key_id, p_last4, p_now);
  return 'done';
end;
$function$;
