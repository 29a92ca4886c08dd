-- Whether a delivery can be sent again: its endpoint is active, it has this status, and no other delivery of its
-- event to the endpoint is pending.
create function can_send_again(p_organization_id uuid, p_webhook_id uuid, p_delivery_id uuid, p_status text)
returns boolean
language plpgsql volatile as $function$
begin
  perform 1 from webhooks w
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active';
  if not found then
    return false;
  end if;
  perform 1 from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = p_delivery_id
      and d.log_day < 'infinity' and d.status = p_status
      and not exists (select 1 from deliveries o
        where o.organization_id = p_organization_id and o.webhook_id = p_webhook_id and o.event_id = d.event_id
          and o.log_day = 'infinity');
  return found;
end;
$function$;
