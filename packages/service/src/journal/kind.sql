-- The part of one kind in a commit, made for each kind from its declaration; `__table__` holds its rows. commit.sql
-- calls the functions in this order, under the clock row; after the deletes those of unlink.sql. Each returns what it
-- has refused or written. No other kind's table is read, but to see that a row referred to exists.
--
-- No removed row has an expected version, as its removal has a stamp of its own. Rows are found by their key, whatever
-- the planner knows of the tables: a row referred to by a range, of which only the key has the order; see also
-- changes-of.sql.

-- Refusals of changes, and of rows that their units were decided on, that are in another version by now.
create function moved_on___kind__(p_organization_id uuid, p_changes commit_change[]) returns jsonb
language plpgsql stable as $function$
begin
  return to_jsonb(array(select jsonb_build_object('id', c.id, 'reason', 'conflict')
    from changes_of(p_organization_id, p_changes, '__kind__', null, '{}') c
    where c.expected is not null
      and not exists (select 1 from __table__ t where t.organization_id = c.organization_id and t.id = c.id
        and t.updated_at = c.expected)));
end;
$function$;

-- Deletes. A removed row keeps its key and its place in the order; its body is its removal record.
create function delete___kind__(
  p_organization_id uuid, p_stamp timestamptz, p_changes commit_change[], p_refused uuid[]
) returns written_row[] language plpgsql volatile as $function$
declare
  v_gone written_row[];
begin
  with gone as (
    update __table__ t set (removed_at, updated_at, body, __columns__)
        = row(p_stamp, p_stamp, removal_record('__kind__', t.id, p_stamp), __nulls__)
      from changes_of(p_organization_id, p_changes, '__kind__', 'delete', p_refused) c
      where t.organization_id = c.organization_id and t.id = c.id and t.updated_at = c.expected
      returning t.id, t.body, c.events, c.trace_context, c.cause, c.bytes, c.old_term, c.old_content)
  select array_agg(row('__kind__', g.id, g.body, g.body, g.events, null, g.trace_context, g.cause,
      -1, -g.bytes, -g.old_term, -g.old_content, 0)::written_row) into v_gone from gone g;
  -- each search
  delete from __table___words w
    using (select p_organization_id as organization_id, g.id from unnest(v_gone) g offset 0) g
    where w.organization_id = g.organization_id and w.id = g.id;
  -- end search
  return v_gone;
end;
$function$;

-- Refusals of changes that were decided on the current row: the others are conflicts, to be decided again. `p_checks`:
-- what the call asks for; nothing else is looked at.
create function check___kind__(
  p_organization_id uuid, p_changes commit_change[], p_checks text[], p_refused uuid[]
) returns jsonb language plpgsql stable as $function$
declare
  v_current commit_change[];
  v_found jsonb := '[]';
begin
  v_current := array(select c.change from changes_of(p_organization_id, p_changes, '__kind__', null, p_refused) c
    where c.checks is not null
      and (c.expected is null or exists (select 1 from __table__ t where t.organization_id = c.organization_id
        and t.id = c.id and t.updated_at = c.expected)));
  -- Unique values that another row has.
  -- each unique
  if '__kind__.__column__' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'duplicate', 'field', '__field__', 'existingId', t.id)
        from (select p_organization_id as organization_id, u.id, (u.own->>'__column__')::__type__ as __column__
          from unnest(v_current) u where '__kind__.__column__' = any(u.checks) offset 0) c
        join __table__ t on t.organization_id = c.organization_id and t.__column__ = c.__column__ and t.id <> c.id));
  end if;
  -- end unique
  -- References to rows that do not exist, or that may not be referred to.
  -- each reference
  if '__kind__.__column__' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'dangling', 'field', '__field__')
        from unnest(v_current) c cross join lateral (select (c.own->>'__column__')::uuid as __column__) v
        where '__kind__.__column__' = any(c.checks) and v.__column__ is not null
          and not exists (select 1 from (select f.removed_at, __condition__ as holds from __target__ f
              where f.organization_id = p_organization_id and f.id between v.__column__ and v.__column__
              order by f.id limit 1) t
            where t.removed_at is null and t.holds)));
  end if;
  -- Rows that refer to one on which a unit was decided, where any came, went or changed since.
  if '__kind__.__column__.referring' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'conflict')
        from unnest(p_changes) c
        cross join lateral jsonb_to_record(c.own) as v(target uuid, count bigint, latest timestamptz)
        cross join lateral (select count(*), max(f.updated_at) as latest
          from (select f.updated_at from __table__ f where f.organization_id = p_organization_id
            and f.__column__ between v.target and v.target and f.removed_at is null and __which__) f) t
        where c.operation = 'referring' and '__kind__.__column__.referring' = any(c.checks)
          and (v.count <> t.count or v.latest is distinct from t.latest)));
  end if;
  -- end reference
  -- each period
  if '__kind__.period' = any(p_checks) then
    v_found := v_found || times_taken___kind__(p_organization_id, v_current, v_found);
  end if;
  -- end period
  return v_found;
end;
$function$;

-- New and changed rows, and what they are found by. A body of a later version of its kind keeps that version, as it
-- keeps the members that this version lacks.
create function write___kind__(
  p_organization_id uuid, p_stamp timestamptz, p_changes commit_change[], p_heads text[], p_operations text[],
  p_refused uuid[]
) returns written_row[] language plpgsql volatile as $function$
declare
  v_stamp text := timestamp_text(p_stamp);
  v_tail text := body_tail(p_stamp);
  v_numbers jsonb;
  v_new written_row[];
  v_changed written_row[];
begin
  if 'insert __kind__' = any(p_operations) then
    -- each sequence
    -- Numbers go on from the last one, in the order of created_at; an import may bring its own.
    select jsonb_object_agg(n.id, n.number) into v_numbers
      from (select c.id, coalesce(i.number, greatest(l.number, max(i.number) over ())
            + count(*) filter (where i.number is null) over (order by c.created_at, c.id)) as number
        from changes_of(p_organization_id, p_changes, '__kind__', 'insert', p_refused) c
        cross join lateral (select (c.own->>'__column__')::bigint as number) i
        cross join (select coalesce((select k.last_number from commits k where k.organization_id = p_organization_id
          and k.kind between '__kind__' and '__kind__' order by k.kind desc, k.stamp desc limit 1), 0) as number) l) n;
    -- end sequence
    with fresh as materialized (
      select c.id, c.created_at, p_heads[c.head] || t.tail as body, t.tail, c.own, c.terms, c.events, c.trace_context,
          c.cause, (v_numbers->>c.id::text)::bigint as number
        from changes_of(p_organization_id, p_changes, '__kind__', 'insert', p_refused) c
        cross join lateral (select __number__ || v_tail as tail) t),
    -- each search
    found_by as (
      insert into __table___words (organization_id, id, created_at, terms)
        select p_organization_id, f.id, f.created_at, concat_ws(' ', f.terms, f.number) from fresh f
          where f.terms is not null),
    -- end search
    added as (
      insert into __table__ (organization_id, id, created_at, updated_at, body, body_version, __new_columns__)
        select p_organization_id, f.id, f.created_at, p_stamp, f.body, __version__, __new_values__
          from fresh f)
    select array_agg(row('__kind__', f.id, f.body, f.tail, f.events, null, f.trace_context, f.cause,
        1, octet_length(f.body), version_term(f.id, v_stamp), content_term(f.body), f.number)::written_row)
      into v_new from fresh f;
  end if;

  if 'update __kind__' = any(p_operations) then
    with changed as (
      update __table__ t set (updated_at, body, body_version, __columns__)
          = row(p_stamp, p_heads[c.head] || v_tail, greatest(t.body_version, __version__), __values__)
        from changes_of(p_organization_id, p_changes, '__kind__', 'update', p_refused) c
        where t.organization_id = c.organization_id and t.id = c.id and t.updated_at = c.expected
        returning t.id, t.body, c.events, c.changed, c.trace_context, c.cause, c.bytes, c.old_term, c.old_content)
    -- The terms and bytes of the row before come from the change, and its version proves them.
    select array_agg(row('__kind__', u.id, u.body, v_tail, u.events, u.changed, u.trace_context, u.cause,
        0, octet_length(u.body) - u.bytes, version_term(u.id, v_stamp)::numeric - u.old_term,
        content_term(u.body)::numeric - u.old_content, 0)::written_row) into v_changed from changed u;
    -- each search
    if 'index __kind__' = any(p_operations) then
      insert into __table___words (organization_id, id, created_at, terms)
        select p_organization_id, c.id, c.created_at, c.terms
          from unnest(v_changed) u join unnest(p_changes) c on c.id = u.id and c.terms is not null
        on conflict (organization_id, id) do update set terms = excluded.terms;
    end if;
    -- end search
  end if;
  return v_new || v_changed;
end;
$function$;
