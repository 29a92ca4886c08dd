-- Reads the messages of conversations again that lost some. Once for the statement: of a conversation with thousands of
-- messages, each would look at all that are gone.
create function inbox_removed_messages() returns trigger
language plpgsql as $function$
begin
  update inbox i set awaiting_since = inbox_since(i.organization_id, i.conversation_id)
    from (select distinct b.organization_id, b.conversation_id from before_rows b
      join after_rows a on a.organization_id = b.organization_id and a.id = b.id
      where b.removed_at is null and a.removed_at is not null and b.conversation_id is not null) r
    where i.organization_id = r.organization_id and i.conversation_id = r.conversation_id;
  return null;
end;
$function$;
