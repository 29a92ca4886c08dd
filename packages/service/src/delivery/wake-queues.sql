-- Makes the queues of these endpoints due. It locks them first, as a completion computes what is due on its queue.
create function wake_queues(p_organization_id uuid, p_webhook_ids uuid[], p_now timestamptz) returns void
language plpgsql volatile as $function$
begin
  perform 1 from endpoint_queues q
    where q.organization_id = p_organization_id and q.webhook_id = any(p_webhook_ids)
    order by q.webhook_id for update;
  update endpoint_queues set due_at = least(due_at, p_now)
    where organization_id = p_organization_id and webhook_id = any(p_webhook_ids);
end;
$function$;
