-- A customer's message begins the wait, an answer ends it. An imported message may be older than others of its
-- conversation: then the conversation's messages are read again.
create function inbox_message() returns trigger
language plpgsql as $function$
declare
  v_sent_at timestamptz := coalesce((new.body::json ->> 'sentAt')::timestamptz, new.created_at);
begin
  if new.direction = 'inbound' then
    update inbox i set awaiting_since = case when new.created_at < new.updated_at
        then inbox_since(new.organization_id, new.conversation_id) else v_sent_at end
      where i.organization_id = new.organization_id and i.conversation_id = new.conversation_id
        and (i.awaiting_since = 'infinity' or new.created_at < new.updated_at and i.awaiting_since > v_sent_at);
  elsif new.direction = 'outbound' and strpos(new.body, '"author":{"type":"system"') = 0 then
    update inbox i set awaiting_since = case when new.created_at < new.updated_at
        then inbox_since(new.organization_id, new.conversation_id) else 'infinity' end
      where i.organization_id = new.organization_id and i.conversation_id = new.conversation_id
        and i.awaiting_since <> 'infinity';
  end if;
  return null;
end;
$function$;
