-- Work that workers do piece by piece.

-- Jobs that replay the events that an endpoint missed, piece by piece.
create table recoveries (
  organization_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  retried integer not null default 0,
  created integer not null default 0,
  include_succeeded boolean not null default false,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  -- No event up to this id is left to look at.
  position uuid not null,
  -- When the next piece is due, and which worker does the pieces.
  due_at timestamptz(3),
  lease_id uuid,
  lease_until timestamptz(3),
  primary key (organization_id, webhook_id, id),
  foreign key (organization_id, webhook_id) references webhooks on delete cascade,
  check (since <= until),
  check ((finished_at is null) = (due_at is not null)),
  check ((lease_id is null) = (lease_until is null))
);
create index recoveries_due on recoveries (due_at) where due_at is not null;

-- Deliveries of large commits that are still to be created, a row a commit and endpoint. Later changes of the
-- endpoint do not change it.
create table fan_outs (
  organization_id uuid not null,
  webhook_id uuid not null,
  -- The commit's: its events, and no other's, have ids of this millisecond.
  stamp timestamptz(3) not null,
  -- What the endpoint was subscribed to.
  types text[] not null,
  max_attempts integer not null check (max_attempts > 0),
  -- No event up to this id is left to make a delivery of.
  position uuid not null,
  -- When the next piece is due. Those that have had one later wait behind those that have not.
  due_at timestamptz(3) not null,
  conditions jsonb,
  own_key text,
  primary key (organization_id, webhook_id, stamp),
  foreign key (organization_id, webhook_id) references webhooks on delete cascade
);
create index fan_outs_due on fan_outs (due_at);

-- Resolutions that wait for their summary, until nothing is left to write.
create table summary_jobs (
  organization_id uuid not null references organizations,
  conversation_id uuid not null,
  resolved_at timestamptz(3) not null,
  -- When a worker may take it; the worker that takes it moves due_at to the end of its lease.
  due_at timestamptz(3) not null,
  lease_id uuid,
  attempts integer not null check (attempts >= 0),
  gave_up boolean not null,
  -- Who has, or had, the lease: when it died, its jobs are found by it.
  worker_id uuid,
  primary key (organization_id, conversation_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index summary_jobs_due on summary_jobs (organization_id, due_at);
