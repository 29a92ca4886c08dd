-- Creates a recovery that is due now: 'done', 'replayed', or 'refused' where the endpoint is disabled or gone.
-- `delivery-job-piece.sql` does it.
create function recover_webhook(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_recovery_id uuid, p_since timestamptz,
  p_until timestamptz, p_include_succeeded boolean, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  if replayed(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform 1 from webhooks w
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active';
  if not found then
    return 'refused';
  end if;
  perform store_response(p_organization_id, p_webhook_id, p_now, p_response);
  insert into delivery_jobs (organization_id, webhook_id, id, kind, since, until, include_succeeded, created_at,
      position, due_at)
    values (p_organization_id, p_webhook_id, p_recovery_id, 'recovery', p_since, p_until, p_include_succeeded, p_now,
      first_uuid_v7(p_since), p_now);
  -- What was left out while the endpoint was disabled is the recovery's from now on.
  update webhooks set gap_since = null, gap_until = null
    where organization_id = p_organization_id and id = p_webhook_id and gap_since >= p_since and gap_until <= p_until;
  return 'done';
end;
$function$;
