-- The time since when the customer of a conversation waits: that of the customer's first message after the last answer,
-- or infinity. Messages of one batch have one time of creation.
create function inbox_since(p_organization_id uuid, p_conversation_id uuid) returns timestamptz
language sql stable as $function$
  with answer as (
    select a.created_at, max(a.body::json ->> 'sentAt') as sent_at from messages a
      where a.organization_id = p_organization_id and a.conversation_id = p_conversation_id and a.removed_at is null
        and a.direction = 'outbound' and strpos(a.body, '"author":{"type":"system"') = 0
        and a.created_at = (select l.created_at from messages l
          where l.organization_id = p_organization_id and l.conversation_id = p_conversation_id and l.removed_at is null
            and l.direction = 'outbound' and strpos(l.body, '"author":{"type":"system"') = 0
          order by l.created_at desc limit 1)
      group by a.created_at)
  select coalesce((select coalesce((m.body::json ->> 'sentAt')::timestamptz, m.created_at) from messages m
      where m.organization_id = p_organization_id and m.conversation_id = p_conversation_id and m.removed_at is null
        and m.direction = 'inbound' and m.created_at >= coalesce((select a.created_at from answer a), '-infinity')
        and (m.created_at, m.body::json ->> 'sentAt')
          > (coalesce((select a.created_at from answer a), '-infinity'), coalesce((select a.sent_at from answer a), ''))
      order by m.created_at, m.body::json ->> 'sentAt' limit 1), 'infinity')
$function$;
