-- Deletes the key with its tokens, disables the endpoints that it registered, erases stored responses with its
-- tokens, and notes what the key was: 'done', 'caller_changed', 'conflict' where it no longer has the version
-- p_expected, or 'last_managing_key'. Without p_caller_id: for the operator, who may revoke the last key that manages
-- keys.
create function revoke_api_key(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[]
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if p_caller_id is not null
      and not key_is_unchanged(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  if p_caller_id is not null and is_last_manager(p_organization_id, p_api_key_id, p_now) then
    return 'last_managing_key';
  end if;
  perform disable_registered(p_organization_id, p_api_key_id, p_now);
  update idempotency_keys set sealed = null
    where organization_id = p_organization_id and subject_id = p_api_key_id;
  insert into revoked_api_keys (organization_id, id, name, scopes, last4, expires_at, last_used_at, created_at,
      updated_at, revoked_at, revoked_by, revoked_by_name)
    select p_organization_id, k.id, k.name, k.scopes,
        coalesce((select t.last4 from api_key_tokens t
          where t.organization_id = p_organization_id and t.api_key_id = p_api_key_id
          order by t.expires_at desc nulls first, t.created_at desc limit 1), ''),
        k.expires_at,
        (select u.last_used_at from api_key_uses u
          where u.organization_id = p_organization_id and u.api_key_id = p_api_key_id),
        k.created_at, k.updated_at, p_now, p_caller_id,
        (select c.name from api_keys c where c.organization_id = p_organization_id and c.id = p_caller_id)
      from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id;
  delete from api_keys where organization_id = p_organization_id and id = p_api_key_id;
  return 'done';
end;
$function$;
