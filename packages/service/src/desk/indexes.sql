-- Indexes of single kinds, besides those that stream tables have.

-- Conversations that need a summary, of all organizations: the summarizer finds its work here.
create index conversations_unsummarized on conversations (resolved_at)
  where resolved_at is not null and summarized_at is null;

-- Tickets that are overdue. Stored times sort as text.
create index tickets_due on tickets (organization_id, ((body::json ->> 'dueAt') collate "C"))
  where removed_at is null and status in ('new', 'open', 'pending', 'on_hold')
    and (body::json ->> 'dueAt') collate "C" is not null;

-- Bookings that reach into a span.
create index bookings_spans on bookings (organization_id, ((body::json ->> 'endAt') collate "C"), start_at)
  where removed_at is null;

-- Where an assignee's time is taken.
create index bookings_times on bookings (organization_id, assignee_id, ((body::json ->> 'endAt') collate "C"))
  where removed_at is null and assignee_id is not null and status in ('pending', 'confirmed');
