-- The ids of all changes whose unit has a refused one: they commit together or not at all. `p_refusals`: an array of
-- objects with the `id` of a change, or of a row that its unit was decided on.
create function units_of(p_changes commit_change[], p_refusals jsonb) returns uuid[]
language plpgsql stable as $function$
begin
  return array(select c.id from unnest(p_changes) c where c.unit in (
    select n.unit from unnest(p_changes) n join jsonb_array_elements(p_refusals) r on n.id = (r->>'id')::uuid));
end;
$function$;
