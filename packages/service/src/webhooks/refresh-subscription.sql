-- Extends a subscription that has not ended until p_ends_at, and makes it active again: 'done' or 'conflict'. A new
-- secret (p_sealed) replaces the one before, which signs until p_expires_at. What failed for good, or was left out
-- while it was disabled, is sent again by a recovery, unless one runs.
create function refresh_subscription(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_ends_at timestamptz, p_secret_id uuid,
  p_sealed bytea, p_sealed_with bytea, p_expires_at timestamptz, p_recovery_id uuid, p_log_begin timestamptz
) returns text
language plpgsql volatile as $function$
declare
  v_since timestamptz;
begin
  perform lock_clock(p_organization_id);
  select missed_since(p_organization_id, p_webhook_id, p_now, p_log_begin) into v_since
    from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id;
  -- What it missed while it was disabled is its gap.
  update webhooks w set ends_at = p_ends_at, status = 'active', disabled_reason = null, disabled_at = null,
      gap_since = coalesce(w.gap_since, w.disabled_at),
      gap_until = case when w.disabled_at is null then w.gap_until else p_now end,
      updated_at = greatest(millisecond_after(w.updated_at), p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.subscription_id is not null
      and w.ends_at > p_now and w.disabled_reason is distinct from 'registrant_revoked';
  if not found then
    return 'conflict';
  end if;
  perform require_sealed_with(p_sealed_with);
  if p_sealed is not null then
    delete from webhook_secrets
      where organization_id = p_organization_id and webhook_id = p_webhook_id and expires_at is not null;
    update webhook_secrets set expires_at = p_expires_at
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    perform add_webhook_secret(p_organization_id, p_webhook_id, p_now, p_secret_id, p_sealed);
  end if;
  perform 1 from recoveries r
    where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.finished_at is null;
  if v_since is not null and not found then
    insert into recoveries (organization_id, webhook_id, id, since, until, created_at, position, due_at)
      select p_organization_id, p_webhook_id, p_recovery_id, least(v_since, p_now), greatest(c.last_stamp, p_now),
          p_now, first_uuid_v7(least(v_since, p_now)), p_now
        from clocks c where c.organization_id = p_organization_id;
    update webhooks set gap_since = null, gap_until = null
      where organization_id = p_organization_id and id = p_webhook_id;
  end if;
  -- The queue before the health record: completing locks them in this order, and the two could wait for each other.
  perform wake_queues(p_organization_id, array[p_webhook_id], p_now);
  update webhook_health set failure_count = 0, failing_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id;
  return 'done';
end;
$function$;
