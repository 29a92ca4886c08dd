-- Work that workers do piece by piece.

-- Spans of events of which an endpoint still gets deliveries: those of a large commit, a row a commit and endpoint, and
-- those that it missed (a recovery, which stays as a record when it is done).
create table delivery_jobs (
  organization_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('large_commit', 'recovery')),
  -- When the events were, both ends included. Of a large commit its stamp: no other has events of this millisecond.
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  -- Of a large commit: what the endpoint was subscribed to. A recovery goes by what it is subscribed to now.
  types text[],
  conditions jsonb,
  own_key text,
  include_succeeded boolean not null default false,
  retried integer not null default 0,
  created integer not null default 0,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  -- No event up to this id is left to look at.
  position uuid not null,
  -- When the next piece is due. Jobs that have had one later wait behind those that have not.
  due_at timestamptz(3),
  primary key (organization_id, webhook_id, id),
  foreign key (organization_id, webhook_id) references webhooks on delete cascade,
  check (since <= until),
  check ((finished_at is null) = (due_at is not null)),
  check ((kind = 'large_commit') = (types is not null))
);
create index delivery_jobs_due on delivery_jobs (due_at) where due_at is not null;

-- Resolutions that wait for their summary, until nothing is left to write.
create table summary_jobs (
  organization_id uuid not null references organizations,
  conversation_id uuid not null,
  resolved_at timestamptz(3) not null,
  -- When a worker may take it; the worker that takes it moves due_at to the end of its lease, and counts an attempt.
  due_at timestamptz(3) not null,
  attempts integer not null check (attempts >= 0),
  primary key (organization_id, conversation_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index summary_jobs_due on summary_jobs (organization_id, due_at);
