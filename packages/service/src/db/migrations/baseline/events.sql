-- Events, stored responses, and what is still to be erased from both. Events, deliveries and attempts are in
-- partitions by week, which are dropped when the log no longer reaches back to them.

-- What happened, written by the commit that did it. A partition a week: an event's id has its commit's stamp, so
-- ids are in the order of time and the week follows from the id. The events of one change have ids that differ in the
-- last digit; the first, which ends in 0, has the body of all (events_with_body).
create table events (
  organization_id uuid not null,
  id uuid not null,
  type text not null,
  created_at timestamptz(3) not null,
  subject_kind text not null,
  subject_id uuid not null,
  body text,
  -- The trace in which its change was made, as a traceparent.
  trace_context text,
  changed jsonb,
  cause jsonb,
  primary key (organization_id, id)
) partition by range (id);

-- Events with what the object was after their change.
create view events_with_body as
  select e.organization_id, e.id, e.type, e.created_at, e.subject_kind, e.subject_id,
      coalesce(e.body, f.body) as body, e.trace_context, e.changed, e.cause
    from events e
    left join events f on f.organization_id = e.organization_id and f.id = event_of_change(e.id, 1) and e.body is null;

-- For erasing what events still have of a removed object.
create index events_subject on events (organization_id, subject_id);

-- Takes rows without a week's partition: a commit never fails for want of one.
create table events_default partition of events default;
create index events_default_age on events_default (created_at);

alter table events
  alter column subject_kind set statistics 0,
  alter column body set statistics 0;

-- Stored responses to requests that may be repeated, for 24 hours.
create table idempotency_keys (
  organization_id uuid not null,
  api_key_id uuid not null,
  method text not null,
  path text not null,
  key text not null,
  request_hash bytea not null,
  status integer not null,
  subject_id uuid not null,
  body text,
  created_at timestamptz(3) not null,
  -- The body, encrypted, where it holds a secret.
  sealed bytea,
  -- The bytes that it has added to what its organization stores.
  counted integer not null default 0,
  primary key (organization_id, api_key_id, method, path, key),
  check (body is null or sealed is null)
);
create index idempotency_keys_subject on idempotency_keys (organization_id, subject_id);
create index idempotency_keys_age on idempotency_keys (created_at);

-- What a removal leaves to maintenance: the stored payloads and responses of an object, those of an object that has
-- lost a reference, and the deliveries of an endpoint.
create table erasures (
  organization_id uuid not null,
  what text not null check (what in ('object', 'reference', 'endpoint')),
  subject_id uuid not null,
  -- What was removed: the subject, or what its reference named.
  removed_id uuid not null,
  -- Of a reference.
  field text not null default '',
  removed_at timestamptz(3) not null,
  primary key (organization_id, subject_id, removed_id, field),
  check ((what = 'reference') = (field <> '')),
  check ((what = 'reference') = (subject_id <> removed_id))
);
