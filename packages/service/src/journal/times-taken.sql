-- Refusals of changes of one kind, `p_changes`, whose time another object of the same owner takes: a stored one, as it
-- was before the call, or one before it in this call. Those with an entry in `p_refusals` take none. Made for each kind
-- whose objects take times, and only in effect for an organization that asks for it.
create function times_taken___kind__(
  p_organization_id uuid, p_changes commit_change[], p_refusals jsonb
) returns jsonb language plpgsql stable as $function$
declare
  v_found jsonb := '[]';
  v_change record;
  v_existing uuid;
  v_owner uuid;
  v_taken tstzrange[];
  v_taken_by uuid[];
begin
  if not exists (select 1 from organizations o
      where o.organization_id = p_organization_id and o.prevents_double_booking) then
    return v_found;
  end if;
  for v_change in
    select c.id, v.__owner__ as owner, v.__starts__ as starts, c.ends,
        tstzrange(v.__starts__, c.ends::timestamptz) as period
      from unnest(p_changes) with ordinality as c
      cross join lateral jsonb_to_record(c.own) as v(__owner__ uuid, __starts__ timestamptz)
      where c.ends is not null and not p_refusals @> jsonb_build_array(jsonb_build_object('id', c.id))
      order by v.__owner__, c.ordinality
  loop
    if v_owner is distinct from v_change.owner then
      v_owner := v_change.owner;
      v_taken := '{}';
      v_taken_by := '{}';
    end if;
    select t.id into v_existing from __table__ t
      where t.organization_id = p_organization_id and t.__owner__ = v_owner and t.removed_at is null
        and t.__state__ in (__taking__) and t.id <> v_change.id
        and ((t.body::json)->>'__ends__') collate "C" > timestamp_text(v_change.starts)
        and t.__starts__ < v_change.ends::timestamptz
      order by ((t.body::json)->>'__ends__') collate "C" limit 1;
    if v_existing is null then
      select o.id into v_existing from unnest(v_taken, v_taken_by) as o(period, id)
        where o.period && v_change.period limit 1;
    end if;
    if v_existing is null then
      v_taken := v_taken || v_change.period;
      v_taken_by := v_taken_by || v_change.id;
    else
      v_found := v_found || jsonb_build_object('id', v_change.id, 'reason', 'overlap', 'existingId', v_existing);
    end if;
  end loop;
  return v_found;
end;
$function$;
