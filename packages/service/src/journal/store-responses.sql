-- Stores responses that no unexpired ones exist of. Each is JSON: the columns, `request_hash` and `sealed` in hex.
-- Returns the bytes that they add to what the organization stores, as a row of the kind `stored response`, whose name
-- no kind has.
create function store_responses(p_organization_id uuid, p_now timestamptz, p_responses jsonb[]) returns written_row
language plpgsql volatile as $function$
declare
  v_bytes bigint;
begin
  with stored as (
    insert into idempotency_keys as k (organization_id, api_key_id, method, path, key, request_hash, status, subject_id,
        body, sealed, created_at, counted)
      select p_organization_id, s.api_key_id, s.method, s.path, s.key, decode(s.request_hash, 'hex'), s.status,
          s.subject_id, s.body, decode(s.sealed, 'hex'), p_now,
          coalesce(octet_length(s.body), octet_length(decode(s.sealed, 'hex')), 0)
        from unnest(p_responses) r(response) cross join lateral jsonb_to_record(r.response) as s(api_key_id uuid,
          method text, path text, key text, request_hash text, status int, subject_id uuid, body text, sealed text)
      -- The one that it replaces has expired; its bytes count until this one is deleted.
      on conflict (organization_id, api_key_id, method, path, key) do update
        set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
          body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
          counted = k.counted + excluded.counted
      returning coalesce(octet_length(k.body), octet_length(k.sealed), 0) as bytes)
  select coalesce(sum(s.bytes), 0) into v_bytes from stored s;
  return row('stored response', null, null, null, null, null, null, null, 0, v_bytes, 0, 0, 0)::written_row;
end;
$function$;
