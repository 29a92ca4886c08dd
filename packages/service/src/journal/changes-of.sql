-- The changes of one kind that are not refused, or those of one operation, with their organization. The planner puts
-- it in place, but does not see that it is one organization, and expects one change: without statistics it would
-- expect few rows of an organization, and read all of them instead of finding each by its key.
create function changes_of(
  p_organization_id uuid, p_changes commit_change[], p_kind text, p_operation text, p_refused uuid[]
) returns table (
  organization_id uuid, id uuid, expected timestamptz, created_at timestamptz, head integer, own jsonb, checks text[],
  old_term bigint, old_content bigint, bytes integer, terms text, events text[], changed jsonb, trace_context text,
  cause jsonb, change commit_change
) language sql stable as $function$
  select p_organization_id, c.id, c.expected, c.created_at, c.head, c.own, c.checks, c.old_term, c.old_content, c.bytes,
      c.terms, c.events, c.changed, c.trace_context, c.cause, c
    from unnest(p_changes) c
    where c.kind = p_kind and (p_operation is null or c.operation = p_operation) and c.id <> all(p_refused)
      and c.id = any(array[c.id])
    offset 0
$function$;
