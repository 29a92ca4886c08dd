-- Adds a conversation to the inbox when it is open, removes it when it is not, and keeps its assignee.
create function inbox_conversation() returns trigger
language plpgsql as $function$
begin
  if new.status <> 'open' or new.removed_at is not null then
    delete from inbox i where i.organization_id = new.organization_id and i.conversation_id = new.id;
    return null;
  end if;
  update inbox i set assignee_id = new.assignee_id
    where i.organization_id = new.organization_id and i.conversation_id = new.id;
  if not found then
    insert into inbox (organization_id, conversation_id, assignee_id, awaiting_since)
      values (new.organization_id, new.id, new.assignee_id, inbox_since(new.organization_id, new.id));
  end if;
  return null;
end;
$function$;
