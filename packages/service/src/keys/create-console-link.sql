-- Creates a link to the console with the scopes p_scopes, of which the calling key has all: 'done', 'replayed',
-- 'caller_changed', or 'limit_reached' where p_limit links have not ended.
create function create_console_link(
  p_organization_id uuid, p_link_id uuid, p_now timestamptz, p_caller_id uuid, p_scopes text[], p_token_hash bytea,
  p_expires_at timestamptz, p_limit int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_caller_id
    and (k.scopes @> p_scopes or '*' = any(k.scopes)) and (k.expires_at is null or k.expires_at > p_now);
  if not found then
    return 'caller_changed';
  end if;
  if (select count(*) from console_links c
      where c.organization_id = p_organization_id and c.expires_at > p_now) >= p_limit then
    return 'limit_reached';
  end if;
  perform store_response(p_organization_id, p_link_id, p_now, p_response);
  insert into console_links (token_hash, organization_id, id, api_key_id, scopes, created_at, expires_at)
    values (p_token_hash, p_organization_id, p_link_id, p_caller_id, p_scopes, p_now, p_expires_at);
  return 'done';
end;
$function$;
