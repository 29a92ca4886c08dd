-- Inserts deliveries, and returns how many: the one statement that does. The caller holds the organization's clock
-- row, and wakes the queues of the endpoints that get pending ones.
create function insert_deliveries(p_organization_id uuid, p_now timestamptz, p_deliveries new_delivery[]) returns int
language plpgsql volatile as $function$
declare
  v_inserted int;
begin
  if exists (select 1 from unnest(p_deliveries) d where d.wait is not null) then
    p_deliveries := coalesce_deliveries(p_organization_id, p_now, p_deliveries);
  end if;
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at,
      subject_kind, subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message,
      next_attempt_at, created_at, updated_at)
    select p_organization_id, coalesce(d.id, new_uuid_v7(p_now)), d.webhook_id,
        case s.status when 'pending' then 'infinity' else (p_now at time zone 'UTC')::date end,
        d.event_id, d.event_type, d.event_created_at, d.subject_kind, d.subject_id, s.status, 'current', 0,
          d.max_attempts,
        case s.status when 'failed' then 'endpoint_disabled' when 'skipped' then d.skipped end,
        case when s.status = 'failed' then 'the endpoint was disabled: ' || d.disabled
          when d.skipped = 'coalesced' then d.coalesced_into::text
          when d.skipped = 'own_change' then 'the key of the endpoint caused it'
          when d.skipped = 'conditions_not_met' then 'the conditions of the endpoint did not hold' end,
        case s.status when 'pending' then p_now + make_interval(secs => coalesce(d.wait, 0)) end, p_now, p_now
      from unnest(p_deliveries) as d
        cross join lateral (select case when d.disabled is not null then 'failed'
          when d.skipped is not null then 'skipped' else 'pending' end as status) s;
  get diagnostics v_inserted = row_count;
  return v_inserted;
end;
$function$;
