-- Copies the attempts that these pending deliveries' rows hold to `attempts`, before the next overwrite them. They
-- are due between `p_first` and `p_last`. Where the last update was no attempt, the row exists.
create function archive_attempts(
  p_organization_id uuid, p_webhook_id uuid, p_ids uuid[], p_first timestamptz, p_last timestamptz
) returns void
language plpgsql volatile as $function$
begin
  insert into attempts (organization_id, delivery_id, number, at, response_status, error_code, error_message,
    duration_ms, response_body)
    select p_organization_id, d.id, d.attempt_count, d.last_attempt_at, d.response_status, d.last_error_code,
        d.last_error_message, d.duration_ms, d.response_body
      from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_ids)
        and d.log_day = 'infinity' and d.next_attempt_at >= p_first and d.next_attempt_at <= p_last
          and d.last_attempt_at is not null
    on conflict do nothing;
end;
$function$;
