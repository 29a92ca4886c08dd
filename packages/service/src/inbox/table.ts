/**
 * A row for each open conversation, with the time since when its customer waits (specification 6.5). Triggers keep it, so that every
 * writer does, also a process of an earlier release, and no commit reads what it does not change. What copies whole tables sets
 * `deskwire.copying` and copies these rows too.
 */
const notCopying = `current_setting('deskwire.copying', true) is distinct from 'on'`

export const inboxTable: readonly string[] = [
  `create table inbox (
    organization_id uuid not null,
    conversation_id uuid not null,
    assignee_id uuid,
    -- Infinity: nobody waits.
    awaiting_since timestamptz(3) not null,
    primary key (organization_id, conversation_id)
  ) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)`,
  `create index inbox_longest on inbox (organization_id, awaiting_since, conversation_id desc)`,
  `create index inbox_assignee on inbox (organization_id, assignee_id, awaiting_since, conversation_id desc)`,
  // The customer's first message after the last answer. Those of one batch have one time of creation.
  `create function inbox_since(p_organization_id uuid, p_conversation_id uuid) returns timestamptz language sql stable as $function$
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
$function$`,
  `create function inbox_conversation() returns trigger language plpgsql as $function$
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
$function$`,
  // An imported message may be older than others of its conversation: it is looked at among them.
  `create function inbox_message() returns trigger language plpgsql as $function$
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
$function$`,
  // For the statement: of a conversation with thousands of messages, each would look at all that are gone.
  `create function inbox_removed_messages() returns trigger language plpgsql as $function$
begin
  update inbox i set awaiting_since = inbox_since(i.organization_id, i.conversation_id)
    from (select distinct b.organization_id, b.conversation_id from before_rows b
      join after_rows a on a.organization_id = b.organization_id and a.id = b.id
      where b.removed_at is null and a.removed_at is not null and b.conversation_id is not null) r
    where i.organization_id = r.organization_id and i.conversation_id = r.conversation_id;
  return null;
end;
$function$`,
  `create trigger inbox_new after insert on conversations for each row
    when (${notCopying}) execute function inbox_conversation()`,
  `create trigger inbox_changed after update on conversations for each row
    when ((old.status, old.assignee_id, old.removed_at) is distinct from (new.status, new.assignee_id, new.removed_at)
      and ${notCopying}) execute function inbox_conversation()`,
  `create trigger inbox_new after insert on messages for each row
    when (${notCopying}) execute function inbox_message()`,
  `create trigger inbox_removed after update on messages
    referencing old table as before_rows new table as after_rows for each statement
    when (${notCopying}) execute function inbox_removed_messages()`,
]
