/**
 * A row for each open conversation, with the time since when its customer waits (specification 6.5). Triggers keep it, so that every
 * writer does, also a process of an earlier release, and no commit reads what it does not change. What copies whole tables sets
 * `deskwire.copying` and copies these rows too.
 */
import type { Migration } from '../db/migration.ts'
import { nilUuid } from '../kernel/ids.ts'

const notCopying = `current_setting('deskwire.copying', true) is distinct from 'on'`

// An imported message may be older than others of its conversation: it is looked at among them.
const messageFunction = `create or replace function inbox_message() returns trigger language plpgsql as $function$
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
$function$`

const prepare: readonly string[] = [
  `create table if not exists inbox (
    organization_id uuid not null,
    conversation_id uuid not null,
    assignee_id uuid,
    -- Infinity: nobody waits.
    awaiting_since timestamptz(3) not null,
    primary key (organization_id, conversation_id)
  ) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)`,
  `create index if not exists inbox_longest on inbox (organization_id, awaiting_since, conversation_id desc)`,
  `create index if not exists inbox_assignee on inbox (organization_id, assignee_id, awaiting_since, conversation_id desc)`,
  // The customer's first message after the last answer. Those of one batch have one time of creation.
  `create or replace function inbox_since(p_organization_id uuid, p_conversation_id uuid) returns timestamptz language sql stable as $function$
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
  `create or replace function inbox_conversation() returns trigger language plpgsql as $function$
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
  messageFunction,
  // For the statement: of a conversation with thousands of messages, each would look at all that are gone.
  `create or replace function inbox_removed_messages() returns trigger language plpgsql as $function$
begin
  update inbox i set awaiting_since = inbox_since(i.organization_id, i.conversation_id)
    from (select distinct b.organization_id, b.conversation_id from before_rows b
      join after_rows a on a.organization_id = b.organization_id and a.id = b.id
      where b.removed_at is null and a.removed_at is not null and b.conversation_id is not null) r
    where i.organization_id = r.organization_id and i.conversation_id = r.conversation_id;
  return null;
end;
$function$`,
  `create or replace trigger inbox_new after insert on conversations for each row
    when (${notCopying}) execute function inbox_conversation()`,
  `create or replace trigger inbox_changed after update on conversations for each row
    when ((old.status, old.assignee_id, old.removed_at) is distinct from (new.status, new.assignee_id, new.removed_at)
      and ${notCopying}) execute function inbox_conversation()`,
  `create or replace trigger inbox_new after insert on messages for each row
    when (${notCopying}) execute function inbox_message()`,
  `create or replace trigger inbox_removed after update on messages
    referencing old table as before_rows new table as after_rows for each statement
    when (${notCopying}) execute function inbox_removed_messages()`,
  // Two hundred open conversations, read before the organization's writers wait. The place: organization, time of creation, id.
  `create or replace function inbox_piece(p_after text) returns text language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $function$
declare
  v_organization_id uuid := split_part(coalesce(p_after, '${nilUuid}|'), '|', 1);
  v_created_at timestamptz := coalesce(nullif(split_part(p_after, '|', 2), ''), 'infinity');
  v_id uuid := coalesce(nullif(split_part(p_after, '|', 3), ''), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_ids uuid[];
  v_times timestamptz[];
begin
  select array_agg(f.id), array_agg(f.created_at) into v_ids, v_times
    from (select c.id, c.created_at, inbox_since(c.organization_id, c.id) as since from conversations c
      where c.organization_id = v_organization_id and c.status = 'open' and c.removed_at is null
        and (c.created_at, c.id) < (v_created_at, v_id)
      order by c.created_at desc, c.id desc limit 200) f where f.since is not null;
  if v_ids is not null then
    perform 1 from organization_clocks c where c.organization_id = v_organization_id for update;
    insert into inbox (organization_id, conversation_id, assignee_id, awaiting_since)
      select c.organization_id, c.id, c.assignee_id, inbox_since(c.organization_id, c.id) from conversations c
        where c.organization_id = v_organization_id and c.id = any(v_ids) and c.status = 'open' and c.removed_at is null
      on conflict do nothing;
  end if;
  if cardinality(v_ids) = 200 then
    return v_organization_id || '|' || v_times[200] || '|' || v_ids[200];
  end if;
  return (select c.organization_id || '|' from organization_clocks c where c.organization_id > v_organization_id
    order by c.organization_id limit 1);
end;
$function$`,
]

export const inboxMigration: Migration = {
  id: '20261126-07-inbox',
  gradually: { prepare, piece: 'select inbox_piece($1) as next' },
  statements: ['drop function inbox_piece(text)'],
}

/** For databases that have the inbox already. */
export const inboxImports: Migration = { id: '20261126-17-inbox-imports', statements: [messageFunction] }
