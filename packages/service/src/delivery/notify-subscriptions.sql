-- Creates a control event of this type, and its delivery, for each of these endpoints that is a subscription. The
-- caller holds the organization's clock row or the endpoint's queue, and wakes the queues.
create function notify_subscriptions(
  p_organization_id uuid, p_now timestamptz, p_type text, p_webhook_ids uuid[], p_max_attempts int
) returns void
language plpgsql volatile as $function$
declare
  v_deliveries new_delivery[];
begin
  with created as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
      select p_organization_id, new_uuid_v7(p_now), p_type, p_now, 'webhook', w.id, '{}'
        from webhooks w
        where w.organization_id = p_organization_id and w.id = any(p_webhook_ids) and w.subscription_id is not null
      returning id, subject_id)
    select array_agg((null, c.subject_id, c.id, p_type, p_now, 'webhook', c.subject_id, p_max_attempts, null,
      null)::new_delivery)
      into v_deliveries from created c;
  perform insert_deliveries(p_organization_id, p_now, v_deliveries);
end;
$function$;
