-- Deletes the endpoint; maintenance removes its deliveries. Returns whether it existed. Locks the endpoint, its
-- queue, then the remaining rows: a completion locks the queue before the health record.
create function delete_webhook(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz) returns boolean
language plpgsql volatile as $function$
begin
  perform lock_clock(p_organization_id);
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id for update;
  perform 1 from endpoint_queues q
    where q.organization_id = p_organization_id and q.webhook_id = p_webhook_id for update;
  delete from webhooks where organization_id = p_organization_id and id = p_webhook_id;
  if not found then
    return false;
  end if;
  insert into erasures (organization_id, what, subject_id, removed_id, removed_at)
    values (p_organization_id, 'endpoint', p_webhook_id, p_webhook_id, p_now);
  return true;
end;
$function$;
