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
  -- An existing row has expired; its bytes are counted until its replacement is deleted.
  with stored as (
    insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id,
        body, sealed, created_at, counted)
      select p_organization_id, (p_response->>'api_key_id')::uuid, p_response->>'method', p_response->>'path',
          p_response->>'key', decode(p_response->>'request_hash', 'hex'), (p_response->>'status')::int, p_subject_id,
          p_response->>'body', decode(p_response->>'sealed', 'hex'), p_now,
          coalesce(octet_length(p_response->>'body'), octet_length(decode(p_response->>'sealed', 'hex')), 0)
      on conflict (organization_id, api_key_id, method, path, key) do update
        set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
          body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
          counted = idempotency_keys.counted + excluded.counted
      returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
  insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
    select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
    on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
end;
$function$;
