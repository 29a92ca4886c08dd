-- Stores the response p_response about the object p_subject_id, sealed or not; nothing where it is null. The caller has
-- found no unexpired response (`replayed`), under the clock row. Stored bytes count as storage of the organization
-- (specification 14.3).
create function store_response(p_organization_id uuid, p_subject_id uuid, p_now timestamptz, p_response jsonb)
returns void
language plpgsql volatile as $function$
begin
  perform require_sealed_with(decode(p_response->>'sealed_with', 'hex'));
  if p_response is null then
    return;
  end if;
  perform count_responses(p_organization_id, (store_responses(p_organization_id, p_now, array[
    p_response || jsonb_build_object('subject_id', p_subject_id)])).bytes);
end;
$function$;
