-- Reports the state of an endpoint as an event, with its deliveries to other endpoints, if the endpoint still has the
-- version p_expected and the reported state p_before. Notes that p_state, since p_since, was reported. Returns
-- whether it did.
create function report_endpoint(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_before text, p_state text,
  p_since timestamptz, p_type text, p_body text, p_attempts int
) returns boolean
language plpgsql volatile as $function$
declare
  v_event_id uuid;
  v_stamp timestamptz(3);
  v_webhooks uuid[];
begin
  perform lock_clock(p_organization_id);
  update webhooks w set reported_state = p_state, reported_since = p_since
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.updated_at = p_expected
      and w.reported_state is not distinct from p_before;
  if not found then
    return false;
  end if;
  select e.p_event_id, e.p_stamp into v_event_id, v_stamp
    from record_event(p_organization_id, p_now, p_type, 'endpoint', p_webhook_id, p_body) e;
  v_webhooks := array(select w.id from webhooks w
    where w.organization_id = p_organization_id and w.status = 'active' and w.events && event_patterns(p_type)
      and w.id <> p_webhook_id);
  perform insert_deliveries(p_organization_id, p_now, array(
    select (null, w.id, v_event_id, p_type, v_stamp, 'endpoint', p_webhook_id, p_attempts, null,
        skip_reason(p_organization_id, w.id, v_event_id, w.options->'conditions', null), null,
        null)::new_delivery
      from webhooks w where w.organization_id = p_organization_id and w.id = any(v_webhooks)));
  perform wake_queues(p_organization_id, v_webhooks, p_now);
  perform pg_notify('__channel__', p_organization_id || ':' || p_type);
  return true;
end;
$function$;
