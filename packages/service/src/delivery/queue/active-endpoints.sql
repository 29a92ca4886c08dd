-- The endpoints of an organization that get deliveries now, and what they are subscribed to (`event-patterns.sql`).
-- The planner puts it in place.
create function active_endpoints(p_organization_id uuid) returns table (id uuid, events text[])
language sql stable as $function$
  select w.id, w.events from webhooks w where w.organization_id = p_organization_id and w.status = 'active'
$function$;
