-- What the removal of rows of `p_kind` does to the rows of one kind that refer to them. They are removed as well,
-- always where the removal erases a person, or lose the reference. Those that lose it move in the stream, without an
-- event; maintenance then takes it from what is stored of them. `p_of`: the delete that began it.
--
-- The updates name `updated_at` too: without it a plan may look for a row in all of the stream's index.
create function unlink___kind__(
  p_organization_id uuid, p_stamp timestamptz, p_kind text, p_removed uuid[], p_erases boolean, p_of commit_change
) returns written_row[] language plpgsql volatile as $function$
declare
  v_tail text := body_tail(p_stamp);
  v_found written_row[];
  v_all written_row[];
begin
  -- each reference
  if p_kind = '__target_kind__' and exists (select 1 from unnest(p_removed) d(id)
      cross join lateral (select f.id from __table__ f
        where f.organization_id = p_organization_id and f.__column__ between d.id and d.id and f.removed_at is null
        order by f.__column__ limit 1) f) then
    with referring as materialized (
      select p_organization_id as organization_id, t.id, t.updated_at, t.body, d.id as removed_id
        from unnest(p_removed) d(id)
        cross join lateral (select f.id, f.updated_at, f.body from __table__ f
          where f.organization_id = p_organization_id and f.__column__ between d.id and d.id and f.removed_at is null
          order by f.__column__ offset 0) t),
    gone as (
      update __table__ t set (removed_at, updated_at, body, __columns__)
          = row(p_stamp, p_stamp, removal_record('__kind__', t.id, p_stamp), __nulls__)
        from referring r where (p_erases or __removes__)
          and t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.updated_at
        returning t.id, t.body, r.body as old_body),
    detached as (
      update __table__ t set __column__ = null, updated_at = p_stamp, body = __detached__
        from referring r where not (p_erases or __removes__)
          and t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.updated_at
        returning t.id, t.body, r.body as old_body, r.removed_id),
    noted as (
      insert into erasures (organization_id, what, subject_id, removed_id, field, removed_at)
        select p_organization_id, 'reference', d.id, d.removed_id, '__detached_field__', p_stamp from detached d
        on conflict do nothing)
    select array_agg(row('__kind__', w.id, w.reported, null,
        case when w.reported is not null then '{__removed_event__}'::text[] end, null, p_of.trace_context, p_of.cause,
        -(w.reported is not null)::int,
        coalesce(octet_length(w.body), 0) - octet_length(w.old_body),
        coalesce(version_term_of(w.body), 0)::numeric - version_term_of(w.old_body),
        coalesce(content_term(w.body), 0)::numeric - content_term(w.old_body), 0)::written_row) into v_found
      from (select g.id, g.body as reported, null as body, g.old_body from gone g
        union all select d.id, null, d.body, d.old_body from detached d) w;
    v_all := v_all || v_found;
  end if;
  -- end reference
  -- each search
  if v_all is not null then
    delete from __table___words w
      using (select p_organization_id as organization_id, g.id from unnest(v_all) g where g.rows < 0 offset 0) g
      where w.organization_id = g.organization_id and w.id = g.id;
  end if;
  -- end search
  return v_all;
end;
$function$;
