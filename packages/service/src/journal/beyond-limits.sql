-- Refusals of inserts beyond what the organization may store, in the order of `p_changes`, after what is there; without
-- the changes `p_refused`.
create function beyond_limits(
  p_organization_id uuid, p_limits commit_limits, p_changes commit_change[], p_refused uuid[]
) returns jsonb language plpgsql stable as $function$
declare
  v_rows bigint;
  v_bytes bigint;
begin
  select coalesce(sum(k.live_count), 0), coalesce(sum(k.stored_bytes), 0) into v_rows, v_bytes
    from kind_counters k where k.organization_id = p_organization_id;
  return coalesce((select jsonb_agg(jsonb_build_object('id', g.id, 'reason', 'full', 'of', g.beyond, 'most',
      case g.beyond when 'rows' then p_limits.max_rows else p_limits.max_bytes end))
    from (select c.id, case
        when v_rows + count(*) over earlier > p_limits.max_rows then 'rows'
        when v_bytes + sum(c.bytes) over earlier > p_limits.max_bytes then 'bytes' end as beyond
      from unnest(p_changes) with ordinality c
      where c.operation = 'insert' and c.id <> all(p_refused) window earlier as (order by c.ordinality)) g
    where g.beyond is not null), '[]');
end;
$function$;
