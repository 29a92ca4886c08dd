-- Writes the endpoint as in p_row and makes its queue due: 'done', 'conflict' where it no longer has the version
-- p_expected, or 'registrant_gone' where p_registers and the key in p_row is gone. p_reset: the endpoint becomes
-- healthy.
create function update_webhook(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_row jsonb, p_reset boolean,
  p_registers boolean
) returns text
language plpgsql volatile as $function$
declare
  r record;
begin
  perform lock_clock(p_organization_id);
  -- The key that becomes the registrant may have been revoked since authentication.
  if p_registers and not exists (select 1 from api_keys k
      where k.organization_id = p_organization_id and k.id = (p_row->>'api_key_id')::uuid
        and (k.expires_at is null or k.expires_at > p_now)) then
    return 'registrant_gone';
  end if;
  perform require_sealed_with(decode(p_row->>'sealed_with', 'hex'));
  select x.url, x.description, x.events, x.signatures, x.options, x.sealed_headers, x.status, x.disabled_reason,
      x.disabled_at, x.gap_since, x.gap_until, x.api_key_id, x.console_link_id, x.ends_at, x.updated_at into r
    from jsonb_to_record(p_row) as x(url text, description text, events text[], signatures text[], options jsonb,
      sealed_headers text, status text, disabled_reason text, disabled_at timestamptz, gap_since timestamptz,
      gap_until timestamptz, api_key_id uuid, console_link_id uuid, ends_at timestamptz, updated_at timestamptz);
  update webhooks w set url = r.url, description = r.description, events = r.events, signatures = r.signatures,
      options = r.options,
      sealed_headers = case when p_row ? 'sealed_headers' then decode(r.sealed_headers, 'hex')
        when r.options ? 'headers' then w.sealed_headers end,
      status = r.status, disabled_reason = r.disabled_reason, disabled_at = r.disabled_at, gap_since = r.gap_since,
      gap_until = r.gap_until, api_key_id = r.api_key_id, console_link_id = r.console_link_id,
      ends_at = r.ends_at, updated_at = r.updated_at
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  if p_reset then
    update webhook_health set failure_count = 0, failing_since = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  end if;
  return 'done';
end;
$function$;
