-- The inbox (specification 6.5). Triggers keep it, so that every writer does, also a process of an earlier release,
-- and no commit reads what it does not change. Code that copies whole tables sets `deskwire.copying` and copies these
-- rows too.

-- Open conversations, each with the time since when its customer waits.
create table inbox (
  organization_id uuid not null,
  conversation_id uuid not null,
  assignee_id uuid,
  -- Infinity: nobody waits.
  awaiting_since timestamptz(3) not null,
  primary key (organization_id, conversation_id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
create index inbox_longest on inbox (organization_id, awaiting_since, conversation_id desc);
create index inbox_assignee on inbox (organization_id, assignee_id, awaiting_since, conversation_id desc);
