-- Fails up to `p_limit` pending deliveries with this error, and returns how many: of a disabled endpoint, except pings;
-- or of a paused one, those that were created before `p_before`. It locks the endpoint, as enabling it keeps what is
-- pending, and the queue, as a completion writes the same rows. `p_place`: where the error is counted.
create function fail_pending(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_place int, p_code text,
  p_message text, p_before timestamptz, p_limit int) returns int
language plpgsql volatile as $function$
declare
  v_ids uuid[];
begin
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
    and case when p_before is null then w.status = 'disabled' else w.options ? 'paused' end for share;
  if not found then
    return 0;
  end if;
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id
    and q.webhook_id = p_webhook_id for no key update;
  select array_agg(x.id) into v_ids from (
    select d.id from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and (p_before is null and d.event_type <> 'ping' or d.id < first_uuid_v7(p_before))
      limit p_limit) x;
  if v_ids is null then
    return 0;
  end if;
  perform archive_attempts(p_organization_id, p_webhook_id, v_ids, '-infinity', 'infinity');
  update deliveries d set status = 'failed', next_attempt_at = null, updated_at = greatest(d.updated_at, p_now),
      last_error_code = p_code, last_error_message = p_message,
      log_day = (d.created_at at time zone 'UTC')::date
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_ids)
      and d.log_day = 'infinity';
  perform count_deliveries(p_organization_id, p_webhook_id, p_now, array[p_place]::smallint[],
    array[cardinality(v_ids)],
    null, '-infinity');
  -- Clear the isolation: this delivery is no longer a suspect.
  update endpoint_queues set alone_id = null, alone_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id and alone_id = any(v_ids);
  return cardinality(v_ids);
end;
$function$;
