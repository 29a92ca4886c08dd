-- Stores the response p_response, about the object p_subject_id, to a request that committed nothing: 'done', or
-- 'replayed' where its key has one already. Under the clock row, so that a concurrent identical request that changes
-- something either sees this response, or is seen.
create function store_lone_response(p_organization_id uuid, p_subject_id uuid, p_now timestamptz, p_response jsonb)
returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform store_response(p_organization_id, p_subject_id, p_now, p_response);
  return 'done';
end;
$function$;
