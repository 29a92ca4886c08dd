-- What an endpoint may be subscribed to in order to receive events of this type: the type, all of its kind, or all. A
-- ping belongs to no kind: nobody subscribes to it. The planner puts it in place.
create function event_patterns(p_type text) returns text[]
language sql immutable parallel safe as $function$
  select array[p_type, split_part(p_type, '.', 1) || '.*', case when strpos(p_type, '.') > 0 then '*' end]
$function$;
