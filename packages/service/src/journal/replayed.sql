-- Whether the request that p_response answers has a stored response that has not expired (specification 13.1). Comes
-- before every refusal: a repeated request gets the stored response. False where p_response is null: the request has no
-- key. commit.sql asks the same for the requests of a call at once.
create function replayed(p_organization_id uuid, p_now timestamptz, p_response jsonb) returns boolean
language plpgsql volatile as $function$
begin
  if p_response is null then
    return false;
  end if;
  -- A range of keys and their order make the primary key the only index that fits.
  perform 1 from idempotency_keys k
    where k.organization_id = p_organization_id and k.api_key_id = (p_response->>'api_key_id')::uuid
      and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key'
      and k.created_at > p_now - interval '24 hours'
    order by k.key limit 1;
  return found;
end;
$function$;
