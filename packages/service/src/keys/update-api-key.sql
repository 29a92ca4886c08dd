-- Writes the key as in p_row: 'done', 'caller_changed', 'conflict' where it no longer has the version p_expected, or
-- 'last_managing_key' where it is the last that manages keys and would not (p_manages). An expiry that a worker has
-- processed no longer changes: 'conflict' too.
create function update_api_key(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[], p_row jsonb, p_manages boolean
) returns text
language plpgsql volatile as $function$
declare
  r record;
begin
  perform lock_clock(p_organization_id);
  if not key_is_unchanged(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  if not p_manages and is_last_manager(p_organization_id, p_api_key_id, p_now) then
    return 'last_managing_key';
  end if;
  select x.name, x.scopes, x.expires_at, x.updated_at into r
    from jsonb_to_record(p_row) as x(name text, scopes text[], expires_at timestamptz, updated_at timestamptz);
  update api_keys k set name = r.name, scopes = r.scopes, expires_at = r.expires_at, updated_at = r.updated_at
    where k.organization_id = p_organization_id and k.id = p_api_key_id
      and (k.expiry_settled_at is null or k.expires_at is not distinct from r.expires_at);
  if not found then
    return 'conflict';
  end if;
  return 'done';
end;
$function$;
