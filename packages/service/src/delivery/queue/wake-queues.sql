-- Makes the queues of these endpoints due, after deliveries were created or made due outside of a commit, or in
-- one that may lie before where a queue has read to. It locks the queues first, in their order, as a completion
-- computes under that lock what is due on one.
--
-- The deliveries may be due before where the worker that holds the queue has read to: `rewinds` tells it to begin
-- again.
create function wake_queues(p_organization_id uuid, p_webhook_ids uuid[], p_now timestamptz) returns void
language plpgsql volatile as $function$
begin
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id and q.webhook_id = any(p_webhook_ids)
    order by q.webhook_id for no key update;
  update endpoint_queues set due_at = least(due_at, p_now), rewinds = rewinds + 1, read_to = null
    where organization_id = p_organization_id and webhook_id = any(p_webhook_ids);
end;
$function$;
