-- Why an endpoint with these conditions, and this key as its own where it skips what that causes, gets no delivery of
-- an event: 'own_change', 'conditions_not_met', or null when it does. Without conditions and key, no event is read.
--
-- Conditions, but for those on the id, always hold of a removal, so that receivers do not keep what is gone, of an
-- event about an endpoint, and of a body that was erased. Of an event that lists no changes, as an insert, every
-- field with a value counts as changed. They hold of an object that the endpoint's registrant may not read: its
-- delivery fails, where a skip would show that key which values the object has.
create function skip_reason(p_organization_id uuid, p_webhook_id uuid, p_event_id uuid, p_conditions jsonb,
  p_own_key text) returns text
language plpgsql stable as $function$
declare
  v_key text;
  v_body jsonb;
  v_changed jsonb;
  v_scope text;
begin
  if p_conditions is null and p_own_key is null then
    return null;
  end if;
  select e.cause->>'key', case when p_conditions is not null then e.body::jsonb end, e.changed, case e.subject_kind
      -- each kind
      when '__kind__' then '__table__:read'
      -- end kind
      when 'endpoint' then 'webhooks:read' end
    into v_key, v_body, v_changed, v_scope
    from events_with_body e where e.organization_id = p_organization_id and e.id = p_event_id;
  if v_key = p_own_key then
    return 'own_change';
  end if;
  if v_body is null or not exists (select 1 from webhooks w
      join api_keys k on k.organization_id = w.organization_id and k.id = w.api_key_id
      where w.organization_id = p_organization_id and w.id = p_webhook_id and k.scopes && array['*', v_scope]) then
    return null;
  end if;
  if exists (select 1 from jsonb_array_elements(p_conditions) as c(condition)
      cross join lateral (select c.condition->>'field' as field,
        coalesce(v_body->(c.condition->>'field'), 'null') as actual) f
      where (v_body->>'object' not in ('removed', 'webhook') or f.field = 'id') and not case c.condition->>'op'
        when 'exists' then (f.actual <> 'null') = coalesce((c.condition->>'value')::boolean, true)
        when 'changed' then coalesce(v_changed ? f.field, f.actual <> 'null')
        when 'in' then c.condition->'value' @> f.actual
        else f.actual = c.condition->'value' end) then
    return 'conditions_not_met';
  end if;
  return null;
end;
$function$;
