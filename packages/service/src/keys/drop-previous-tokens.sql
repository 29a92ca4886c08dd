-- Ends all tokens of the key but its latest, and sets its updated_at if one of them still worked: 'done',
-- 'caller_changed', or 'conflict' where the key no longer has the version p_expected.
create function drop_previous_tokens(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[], p_updated_at timestamptz
) returns text
language plpgsql volatile as $function$
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
  update api_keys k set updated_at = p_updated_at
    where k.organization_id = p_organization_id and k.id = p_api_key_id
      and exists (select 1 from api_key_tokens t
        where t.organization_id = p_organization_id and t.api_key_id = p_api_key_id and t.expires_at > p_now);
  delete from api_key_tokens
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at is not null;
  return 'done';
end;
$function$;
